/* Continues a text, as it comes: cc -std=c11 generate.c $(pkg-config --cflags --libs ingot) */
#include <ingot.h>
#include <stdio.h>

static int32_t show(void* file, const char* text, size_t size) { return fwrite(text, 1, size, file) != size; }

int main(int argument_count, char** arguments) {
  const char* path = argument_count > 1 ? arguments[1] : NULL; /* null: the model that the library carries */
  ingot_model* model = NULL;
  ingot_session* session = NULL;
  ingot_error error;
  ingot_generation_options options = INGOT_GENERATION_OPTIONS;
  options.most_tokens = 24;
  options.on_text = show;
  options.user = stdout;
  if (ingot_model_open(path, &model, &error) != INGOT_OK ||
      ingot_session_open(model, NULL, &session, &error) != INGOT_OK ||
      ingot_generate_text(session, "\nOnce there was a thoughtful cook", &options, NULL, NULL, &error) != INGOT_OK) {
    fprintf(stderr, "%s\n", error.text);
  }
  ingot_session_close(session);
  ingot_model_close(model);
  return error.status;
}
