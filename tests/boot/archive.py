"""Archives for loaders to bring beside a kernel, in cpio's newc form."""


def make_archive(files: list[list]) -> str:
    """Of paths with their content and, if a third word says it, their mode. Text but for its zeros; `-> TARGET` is a link."""
    archive = ""
    for inode, (path, content, *modes) in enumerate([*files, ["TRAILER!!!", ""]], start=1):
        mode = 0o100000 | (modes[0] if modes else 0o644)
        if content.startswith("-> "):
            mode, content = 0o120777, content.removeprefix("-> ")
        fields = [inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path) + 1, 0]
        archive += "070701" + "".join(f"{field:08X}" for field in fields) + path + "\0"
        archive += "\0" * (-len(archive) % 4) + content
        archive += "\0" * (-len(archive) % 4)
    return archive
