#include "engine/explanation_html.h"

#include "engine/explanation_json.h"
#include "model/files/replaced_file.h"

namespace ingot {
namespace {

constexpr const char* head = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Ingot: a model explained</title><style>
:root{--ink:#1d2129;--soft:#667;--line:#e3e5ea;--paper:#fafafa;--card:#fff;--accent:#b4541a}
@media(prefers-color-scheme:dark){:root{--ink:#e4e6eb;--soft:#99a;--line:#2c3038;--paper:#14161a;--card:#1b1e24;
--accent:#f0894a}}
*{box-sizing:border-box}body{margin:0;font:14px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
main{max-width:1240px;margin:0 auto;padding:28px 20px 60px}h1{font-size:24px;margin:0;font-weight:650;
overflow-wrap:anywhere}
h2{font-size:16px;margin:34px 0 8px}p.sub{color:var(--soft);margin:4px 0 18px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(138px,1fr));gap:10px}
.tile,.card{background:var(--card);border:1px solid var(--line);border-radius:10px}
.tile{padding:10px 14px}.tile b{display:block;font-size:20px;font-weight:650}.tile span{color:var(--soft);font-size:12px}
.card{padding:12px;overflow-x:auto}svg{display:block;width:100%;height:auto;min-width:860px;user-select:none}
svg text{fill:var(--ink);font-size:11px}
svg text.soft{fill:var(--soft)}svg text.box{fill:#fff;pointer-events:none}.bar{display:flex;gap:14px;flex-wrap:wrap;
align-items:center;color:var(--soft);font-size:12px;margin:0 0 8px}button,select{font:inherit;color:var(--ink);
background:var(--card);border:1px solid var(--line);border-radius:6px;padding:2px 8px}
.legend i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:5px}
#tip{position:fixed;pointer-events:none;display:none;max-width:460px;background:var(--card);color:var(--ink);border:1px
solid var(--line);border-radius:8px;padding:8px 11px;font-size:12px;box-shadow:0 6px 24px #0004;z-index:9}
#tip b{font-size:13px}#tip table{border-collapse:collapse;margin-top:3px}#tip td{padding:0 10px 0 0;vertical-align:top;
border:0;text-align:left}#tip td:first-child{color:var(--soft);white-space:nowrap}
table.list{border-collapse:collapse;width:100%;font-size:12.5px;font-variant-numeric:tabular-nums}
.list td,.list th{padding:3px 8px;text-align:right;border-bottom:1px solid var(--line)}.list td:first-child,
.list th:first-child{text-align:left}.list th{color:var(--soft);font-weight:500}rect.hit:hover{stroke:var(--ink);
stroke-width:1.5}.grab{cursor:grab}
</style></head><body><main>
<h1 id="title"></h1><p class="sub" id="sub"></p><div class="tiles" id="tiles"></div>
<h2>Where it goes</h2><div class="card"><svg id="families"></svg><div class="bar legend" id="legend"></div></div>
<h2>Circuit</h2><div class="bar"><label>width of a box <select id="size"></select></label>
<label>colour <select id="paint"><option value="family">family</option><option value="roof">share of the roofline</option>
</select></label><button id="reset">whole</button><span>wheel zooms, dragging moves, hovering tells</span></div>
<div class="card"><svg id="circuit" class="grab"></svg></div><p class="sub" id="rewrites"></p>
<h2>Operations</h2><div class="card"><table class="list" id="operations"></table></div>
<h2>Arena over time</h2><p class="sub" id="arena_text"></p>
<div class="card"><svg id="arena" class="grab"></svg></div>
</main><div id="tip"></div><script>
)html";

constexpr const char* script = R"html(
'use strict';
const NS='http://www.w3.org/2000/svg',$=id=>document.getElementById(id),M=D.pass_us!==null,S=D.steps;
const palette=['#3d6fb6','#b4541a','#3f8f5f','#8a5bb0','#b08a1f','#2b93a0','#b0447a','#6a7382','#7a9a2e','#a5443c'];
const colours={};D.families.forEach((f,i)=>colours[f.name]=palette[i%palette.length]);
function el(parent,name,attributes,text){const e=document.createElementNS(NS,name);
 for(const k in attributes)e.setAttribute(k,attributes[k]);if(text!==undefined)e.textContent=text;parent.appendChild(e);return e}
function html(parent,name,text,cls){const e=document.createElement(name);if(text!==undefined)e.textContent=text;
 if(cls)e.className=cls;parent.appendChild(e);return e}
const clear=e=>{while(e.firstChild)e.removeChild(e.firstChild)};
function scaled(v,units,base){let i=0;while(v>=base&&i<units.length-1){v/=base;i++}
 return (v>=100||i===0&&v===Math.floor(v)?v.toFixed(0):v.toPrecision(3))+' '+units[i]}
const bytes=v=>scaled(v,['B','kB','MB','GB','TB'],1000),flops=v=>scaled(v,['FLOP','kFLOP','MFLOP','GFLOP','TFLOP'],1000);
const time=us=>us<1?(1000*us).toFixed(0)+' ns':scaled(us,['\u00b5s','ms','s'],1000);
const percent=v=>(v<10?v.toFixed(1):v.toFixed(0))+'%';
const tip=$('tip');
function hover(e,title,rows){e.addEventListener('mousemove',m=>{clear(tip);html(tip,'b',title);const t=html(tip,'table');
 for(const [k,v] of rows()){const r=html(t,'tr');html(r,'td',k);html(r,'td',v)}tip.style.display='block';
 const w=tip.offsetWidth,h=tip.offsetHeight;tip.style.left=Math.min(m.clientX+14,innerWidth-w-8)+'px';
 tip.style.top=(m.clientY+h+24>innerHeight?m.clientY-h-10:m.clientY+16)+'px'});
 e.addEventListener('mouseleave',()=>tip.style.display='none')}
function stepRows(s){const r=[['operation',s.operation],['variant',s.variant],['why',s.reason],['shapes',s.shapes],
 ['arithmetic',flops(s.operations)],['bytes',bytes(s.bytes_read)+' read, '+bytes(s.bytes_written)+' written'],
 ['of weights',bytes(s.weight_bytes)],['intensity',s.intensity.toPrecision(3)+' FLOP/B'],
 ['least time',time(s.least_us)+' ('+s.roof+')']];
 if(M)r.push(['measured',time(s.measured_us)+', '+percent(100*s.measured_us/D.totals.measured_us)+' of the pass'],
  ['of the roofline',percent(s.roofline_percent)]);return r}

$('title').textContent=TITLE;
$('sub').textContent=D.architecture+', '+D.layers+' layers of width '+D.width+', vocabulary '+D.vocabulary+'. A pass of '+
 D.tokens+' token(s) after '+D.depth+', '+(D.threads?D.threads+' thread(s) of ':'on ')+D.processor+'; measured peaks: '+
 bytes(D.read_bytes_per_second)+'/s read, '+flops(D.fma_flops)+'/s.';
function tile(value,label){const t=html($('tiles'),'div',undefined,'tile');html(t,'b',value);html(t,'span',label)}
if(M){tile(time(D.pass_us),'a pass, \u00b1 '+percent(100*D.pass_spread));
 tile((D.tokens*1e6/D.pass_us).toFixed(1),'tokens a second');
 tile(percent(100*D.totals.least_us/D.pass_us),'of the roofline');
 tile(percent(100*D.accounted),'of the time accounted for')}
else tile(time(D.totals.least_us),'least time the peaks allow');
tile(bytes(D.memory.weight_bytes),'weights');tile(flops(D.totals.operations),'arithmetic');
tile(bytes(D.memory.arena_bytes),'arena; '+bytes(D.memory.unshared_bytes)+' unshared');
tile(bytes(D.memory.sequence_bytes),'caches and states');

(function families(){const svg=$('families'),width=1180;svg.setAttribute('viewBox','0 0 '+width+' 66');
 const lines=[[M?'time':'least time',f=>M?f.measured_us:f.least_us],['bytes',f=>f.bytes],['FLOP',f=>f.operations]];
 lines.forEach(([name,of],i)=>{const sum=D.families.reduce((a,f)=>a+of(f),0)||1;let x=80;
  el(svg,'text',{x:70,y:22*i+15,'text-anchor':'end',class:'soft'},name);
  for(const f of D.families){const w=(width-80)*of(f)/sum,y=22*i+2;
   const r=el(svg,'rect',{x,y,width:Math.max(w-1,0),height:18,rx:2,fill:colours[f.name],class:'hit'});
   hover(r,f.name,()=>[['steps',f.steps],['share of '+name,percent(100*of(f)/sum)],['arithmetic',flops(f.operations)],
    ['bytes',bytes(f.bytes)],['least time',time(f.least_us)]].concat(M?[['measured',time(f.measured_us)],
    ['of the roofline',percent(f.roofline_percent)]]:[]));
   if(w>70)el(svg,'text',{x:x+6,y:y+13,class:'box'},f.name+' '+percent(100*of(f)/sum));x+=w}});
 for(const f of D.families){const s=html($('legend'),'span');html(s,'i').style.background=colours[f.name];s.append(f.name)}})();

// A window [from, from + span] of a drawing that is `full` wide, moved by wheel and hand.
function zoomable(svg,left,width,full,draw){const view={from:0,span:full()};
 const show=()=>{view.span=Math.min(Math.max(view.span,full()/4000),full());
  view.from=Math.min(Math.max(view.from,0),full()-view.span);draw(view)};
 const at=m=>{const b=svg.getBoundingClientRect();return ((m.clientX-b.left)*1180/b.width-left)/width};
 svg.addEventListener('wheel',m=>{m.preventDefault();const p=at(m),x=view.from+p*view.span;
  view.span*=Math.exp(m.deltaY*.0015);view.span=Math.min(view.span,full());view.from=x-p*view.span;show()},{passive:false});
 let held=null;svg.addEventListener('mousedown',m=>held=at(m));addEventListener('mouseup',()=>held=null);
 addEventListener('mousemove',m=>{if(held===null)return;const p=at(m);view.from-=(p-held)*view.span;held=p;show()});
 svg.addEventListener('dblclick',()=>{view.from=0;view.span=full();show()});
 return {show,reset(){view.from=0;view.span=full();show()}}}

const sizes={measured:['measured time',s=>s.measured_us],least:['least time',s=>s.least_us],
 bytes:['bytes',s=>s.bytes_read+s.bytes_written],flop:['FLOP',s=>s.operations],equal:['one each',()=>1]};
for(const k in sizes){if(k==='measured'&&!M)continue;const o=html($('size'),'option',sizes[k][0]);o.value=k}
if(!M)$('paint').querySelector('[value=roof]').disabled=true;
const rows=[];S.forEach((s,i)=>{const name=s.layer===null?(rows.length?'end':'start'):'blk.'+s.layer;
 let row=rows[rows.length-1];if(!row||row.name!==name&&!(s.layer===null&&row.layer===null))
  rows.push(row={name,layer:s.layer,steps:[]});row.steps.push(s)});
const heat=p=>'hsl('+Math.min(Math.max(p,0),100)*1.25+',55%,42%)';
const circuit=(function(){const svg=$('circuit'),left=70,width=1100,h=20;
 const size=s=>Math.max(sizes[$('size').value][1](s),0),sum=r=>r.steps.reduce((a,s)=>a+size(s),0);
 // The longest layer fills a line. What takes longer, as scores over a large vocabulary do, goes on in up to five more.
 const full=()=>Math.max(...rows.filter(r=>r.layer!==null).map(sum),Math.max(...rows.map(sum))/6)||1;
 function draw(view){clear(svg);const F=full(),lines=rows.map(r=>Math.max(Math.ceil(sum(r)/F-1e-6),1));
  const height=h*lines.reduce((a,n)=>a+n,0)+6,clip=el(el(svg,'defs',{}),'clipPath',{id:'inside'});
  svg.setAttribute('viewBox','0 0 1180 '+height);el(clip,'rect',{x:left,y:0,width:width+8,height});
  const inside=el(svg,'g',{'clip-path':'url(#inside)'}),k=width/view.span;
  function box(s,a,w,y){if(a+w<left||a>left+width+8||w<.05)return;
   const fill=$('paint').value==='roof'&&M?heat(s.roofline_percent):colours[s.family];
   const r=el(inside,'rect',{x:a,y,width:Math.max(w-.6,.3),height:h-3,rx:Math.min(2,w/4),fill,class:'hit'});
   hover(r,s.name,()=>stepRows(s));const label=s.name.replace(/^blk\.\d+\./,'');
   const seen=Math.min(a+w,left+width)-Math.max(a,left);
   if(seen>label.length*6.2+6)el(inside,'text',{x:Math.max(a,left)+4,y:y+12.5,class:'box'},label)}
  let top=3;rows.forEach((row,i)=>{let x=0;
   el(svg,'text',{x:left-8,y:top+13,'text-anchor':'end',class:'soft'},row.name);
   for(const s of row.steps){const end=x+size(s);for(let n=Math.floor(x/F);n*F<end&&n<lines[i];n++){
     const from=Math.max(x,n*F),to=Math.min(end,(n+1)*F);box(s,left+(from-n*F-view.from)*k,(to-from)*k,top+n*h)}
    x=end}
   top+=lines[i]*h})}
 return zoomable(svg,left,width,full,draw)})();
$('size').onchange=()=>circuit.reset();$('paint').onchange=()=>circuit.show();$('reset').onclick=()=>circuit.reset();
circuit.reset();
if(D.rewrites.length)$('rewrites').textContent='Rewritten from what the template says: '+
 D.rewrites.map(r=>r.name+' \u00d7 '+r.count).join(', ')+'.';

(function operations(){const t=$('operations'),head=html(t,'tr');
 for(const n of ['operation and variant','steps','FLOP','bytes','least'].concat(M?['measured','share','roofline']:['share']))
  html(head,'th',n);
 for(const o of D.operations){const r=html(t,'tr');for(const v of [o.name,o.steps,flops(o.operations),bytes(o.bytes),
  time(o.least_us)].concat(M?[time(o.measured_us),percent(100*o.share),percent(o.roofline_percent)]:[percent(100*o.share)]))
  html(r,'td',v)}})();

(function arena(){const svg=$('arena'),left=70,width=1100,height=300,B=D.memory.buffers,A=D.memory.arena_bytes||1;
 svg.setAttribute('viewBox','0 0 1180 340');
 $('arena_text').textContent='Each box is a buffer: from the step that makes it to the last that reads it, at its place in '+
  bytes(A)+'. Without sharing, the buffers would take '+bytes(D.memory.unshared_bytes)+'.';
 function draw(view){clear(svg);const clip=el(el(svg,'defs',{}),'clipPath',{id:'arena_inside'});
  el(clip,'rect',{x:left,y:0,width,height:height+6});const inside=el(svg,'g',{'clip-path':'url(#arena_inside)'});
  const k=width/view.span,y=v=>5+height*(1-v/A);
  for(let i=0;i<=4;i++){const v=A*i/4;el(svg,'line',{x1:left,x2:left+width,y1:y(v),y2:y(v),stroke:'var(--line)'});
   el(svg,'text',{x:left-8,y:y(v)+4,'text-anchor':'end',class:'soft'},bytes(v))}
  for(let i=0;i<=8;i++){const s=view.from+view.span*i/8;
   const step=S[Math.min(Math.floor(s),S.length-1)];
   el(svg,'text',{x:left+width*i/8,y:330,'text-anchor':i===0?'start':i===8?'end':'middle',class:'soft'},step?step.name:'')}
  for(const b of B){const x=left+(b.first-view.from)*k,w=(b.last+1-b.first)*k;if(x+w<left||x>left+width)continue;
   const maker=S[b.first],top=y(b.offset+b.bytes),h=Math.max(y(b.offset)-top,.4);
   const r=el(inside,'rect',{x,y:top,width:Math.max(w-.4,.4),height:h,fill:maker?colours[maker.family]:'#888',
    'fill-opacity':.85,class:'hit'});
   hover(r,b.name,()=>[['bytes',bytes(b.bytes)],['offset',b.offset],['made by',S[b.first].name],
    ['last read by',S[b.last].name],['steps',b.last-b.first+1]]);
   if(w>b.name.length*6.2+8&&h>12)el(inside,'text',{x:Math.max(x,left)+4,y:top+h/2+4,class:'box'},b.name)}}
 zoomable(svg,left,width,()=>Math.max(S.length,1),draw).reset()})();
</script></body></html>
)html";

// JSON inside of a script element: the parser of HTML must not find an end of it there.
std::string for_script(std::string json) {
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at)) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') result += '\\';
    result += code < 0x20 ? ' ' : character;
  }
  return result + "\"";
}

}  // namespace

std::string explanation_html(const std::string& title, const Explanation& explanation) {
  return head + for_script("const TITLE=" + quoted(title) + ",D=" + explanation_json(explanation, -1)) + ";" + script;
}

Result<void> write_explanation_html(const std::string& path, const std::string& title, const Explanation& explanation) {
  const std::string page = explanation_html(title, explanation);
  ReplacedFile file = TRY(ReplacedFile::create(path));
  TRY(file.write(std::as_bytes(std::span(page))));
  return file.commit();
}

}  // namespace ingot
