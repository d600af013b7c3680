package page

// sheet is the style of the page. A look has a colour, and a pattern or a shape of its own.
const sheet = `
:root{--bg:#fff;--fg:#1c1e21;--dim:#5a6169;--line:#d9dde2;--soft:#f3f5f7;--link:#0b57a8;--label:15rem;
--o:#2e7d57;--r:#1f6fc4;--f:#b42318;--s:#86269b;--t:#a14e00;--l:#9d1558;--x:#59616b;--u:#b42318;--v:#1c1e21;--k:#59616b;
--n:#a14e00;--p:#f6e3a1;--pl:#8a6a00;--hatch:#c3c9d0}
@media (prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e6e8ea;--dim:#a3abb4;--line:#333a41;--soft:#1d2226;
--link:#7db7ff;
--o:#3f9b70;--r:#4a94e6;--f:#e5594c;--s:#b869cc;--t:#d18227;--l:#dc5a97;--x:#8d96a0;--u:#ff7a6e;--v:#e6e8ea;--k:#8d96a0;
--n:#d18227;--p:#4a3d0c;--pl:#e0bf55;--hatch:#454d55}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:100rem;padding:1rem 1.25rem 3rem;background:var(--bg);color:var(--fg);
font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}
h1{font-size:1.4rem;margin:0 0 .2rem}
h2{font-size:1.15rem;margin:1.8rem 0 .5rem;scroll-margin-top:.5rem}
h3{font-size:.95rem;margin:1rem 0 .2rem;scroll-margin-top:.5rem}
[hidden]{display:none!important}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:.6rem 0;padding:0}
.filter{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem 1.2rem}
.filter input,.filter select{font:inherit;color:var(--fg);background:var(--bg);border:1px solid var(--dim);
border-radius:4px;padding:.2rem .4rem;max-width:14rem}
header p,.legend{margin:.15rem 0;color:var(--dim)}
a{color:var(--link)}
bdi{overflow-wrap:anywhere}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-100rem}
.skip:focus{left:1rem;top:.5rem;z-index:9;background:var(--bg);padding:.4rem .8rem}
header .warn{color:var(--fg);border-left:4px solid var(--t);padding-left:.6rem;overflow-wrap:anywhere}
.none{padding:3rem 1rem;text-align:center;color:var(--dim);background:var(--soft);border-radius:6px}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.87rem}
.legend i,td i{position:relative;display:inline-block;width:1.4rem;height:.8rem;margin-right:.15rem;
vertical-align:-.05rem}
.legend i::before,td i::before{display:none}
.chart{position:relative;padding-right:6px}
.axis{position:sticky;top:0;z-index:4;height:3rem;margin-left:var(--label);background:var(--bg);
border-bottom:1px solid var(--line);font-size:.8rem;
color:var(--dim)}
.axis *{position:absolute;white-space:nowrap}
.axis b{top:.25rem;color:var(--fg)}
.axis span{bottom:.2rem;transform:translateX(-50%)}
.axis .end{transform:translateX(-100%);padding-right:.25rem}
.axis .begin{transform:none;padding-left:.25rem}
.axis .now{transform:translateX(-100%);color:var(--link)}
.grid{position:absolute;inset:3rem 6px 0 var(--label);pointer-events:none}
.grid i{position:absolute;top:0;bottom:0;border-left:1px solid var(--line)}
.grid .day{border-left:1px solid var(--dim)}
.grid .now{border-left:2px solid var(--link)}
.grid .shift{border-left:2px dashed var(--t);pointer-events:auto}
.rows{list-style:none;margin:0;padding:0}
.rows li{position:relative;display:flex;align-items:center;min-height:2.9rem;border-bottom:1px solid var(--line);
scroll-margin-top:4rem}
.rows li:target,.rows li:target p{background:var(--soft)}
.rows p{flex:none;width:var(--label);margin:0;padding:.25rem .8rem .25rem 0;line-height:1.2}
.rows bdi,tbody a{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;
overflow-wrap:anywhere;unicode-bidi:plaintext}
.rows bdi{font-weight:600}
.rows small{display:block;color:var(--dim);font-size:.78rem;overflow-wrap:anywhere}
.rows div{position:relative;flex:1;height:2rem}
.rows svg{position:absolute;bottom:.1rem;left:0;width:100%;height:1.15rem}
.rows svg{overflow:visible}
.rows path{stroke-width:14}
path.o,path.r,path.h,path.p{stroke-width:8}
.rows i{position:absolute;bottom:.1rem;height:1.15rem;min-width:2px;border-radius:2px;color:#fff;
font:600 .74rem/1.15rem system-ui,sans-serif;
padding:0;text-indent:.3rem;white-space:nowrap}
.rows i:hover,.rows i:focus{z-index:3;outline:2px solid var(--fg);outline-offset:1px}
i{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.o{background:var(--o)}
.r{background:var(--r)}
.f,.F{background:repeating-linear-gradient(135deg,var(--f) 0 4px,color-mix(in srgb,var(--f),#000 35%) 4px 7px)}
.s,.S{background:repeating-linear-gradient(90deg,var(--s) 0 3px,color-mix(in srgb,var(--s),#000 35%) 3px 5px)}
.t,.T{background:repeating-linear-gradient(0deg,var(--t) 0 3px,color-mix(in srgb,var(--t),#000 35%) 3px 5px)}
.l,.L{background:repeating-linear-gradient(45deg,var(--l) 0 4px,color-mix(in srgb,var(--l),#000 35%) 4px 7px)}
.x,.X{background:var(--x);border-right:4px double var(--fg)}
.rows .u,.rows .U,.legend .U,td .U{background:var(--bg);border:2px solid var(--u);color:var(--fg)}
.rows .v,.rows .V,.legend .V,td .V{background:var(--bg);border:2px dashed var(--v);color:var(--fg)}
.rows .k,.rows .K,.legend .K,td .K{background:var(--bg);border:2px dotted var(--k);color:var(--fg)}
.rows .u,.rows .U,.rows .v,.rows .V,.rows .k,.rows .K{line-height:.9rem}
.n,.N,.i,.I{background:repeating-linear-gradient(90deg,var(--n) 0 8px,color-mix(in srgb,var(--n),#000 30%) 8px 10px)}
.h{background:color-mix(in srgb,var(--r),var(--bg) 45%)}
.q,.Q{background:var(--x)}
.rows .f,.rows .F,.rows .s,.rows .S,.rows .t,.rows .T,.rows .l,.rows .L,.rows .x,.rows .X,.rows .u,.rows .U,.rows .v,
.rows .V,
.rows .k,.rows .K,
.rows .n,.rows .N,.rows .i,.rows .I,.rows .q,.rows .Q{min-width:4px;z-index:2}
.rows i::before{position:absolute;left:50%;bottom:100%;transform:translateX(-50%);text-indent:0;
font:700 .7rem/.8rem system-ui,
sans-serif;color:var(--fg)}
.F::before{content:"F"}.S::before{content:"S"}.T::before{content:"T"}.L::before{content:"L"}.X::before{content:"X"}
.U::before{content:"U"}
.V::before{content:"V"}.K::before{content:"K"}.N::before{content:"?"}.I::before{content:"!"}.Q::before{content:"Q"}
.A::before{content:"\25C6"}
.rows .a,.rows .A{width:0;min-width:0;border-left:2px solid var(--fg);border-radius:0;height:1.4rem;z-index:2}
.legend .A{width:2px;background:var(--fg);margin:0 .5rem}
.D::before{content:"\25B2"}
.rows .d,.rows .D{width:0;min-width:0;border-left:3px solid var(--f);border-radius:0;height:1.9rem;z-index:2}
.legend .D{width:3px;background:var(--f);margin:0 .5rem}
path.p{stroke:var(--pl);opacity:.4}
path.o{stroke:var(--o)}path.r,path.h{stroke:var(--r)}path.f,path.u,path.d{stroke:var(--f)}path.s{stroke:var(--s)}
path.t,path.n,path.i{stroke:var(--t)}path.l{stroke:var(--l)}path.x,path.k,path.q{stroke:var(--x)}
path.v,path.a{stroke:var(--fg)}
.p{background:repeating-linear-gradient(90deg,var(--p) 0 8px,transparent 8px 10px);border-top:2px solid var(--pl);
border-bottom:2px solid var(--pl)}
.rows .p{height:1.9rem;bottom:-.25rem;border-radius:0}
.z{background:repeating-linear-gradient(135deg,var(--hatch) 0 1px,transparent 1px 7px)}
.rows .z{left:0;height:2.8rem;bottom:-.4rem;min-width:0;border-radius:0;border-right:1px dotted var(--dim)}
.z span{float:right;height:1rem;margin:.9rem .3rem 0 0;padding:0 .3rem;background:var(--bg);color:var(--dim);
font:.7rem/1rem system-ui,sans-serif;text-indent:0}
.rows .e{border-top-left-radius:0;border-bottom-left-radius:0;border-left:3px dotted var(--bg)}
.rows .g{border-top-right-radius:0;border-bottom-right-radius:0;border-right:3px dotted var(--bg)}
summary{position:relative;cursor:pointer;padding:.6rem 0;color:var(--link);background:var(--bg)}
table{border-collapse:collapse;width:100%;font-size:.9rem;table-layout:fixed}
.wrong th:nth-child(1){width:16%}
.wrong th:nth-child(3),.wrong th:nth-child(5),.wrong th:nth-child(6){width:17%}
.wrong th:nth-child(4){width:9%}
.states th:nth-child(1){width:24%}
.states th:nth-child(2){width:11%}
.states th:nth-child(5),.states th:nth-child(6){width:7%}
.states th:nth-child(10){width:12%}
th small{display:block;font-weight:400;color:var(--dim);overflow-wrap:anywhere}
td:last-child{padding-right:0}
td svg{height:1.25rem;max-width:100%;overflow:visible}
td path{fill:none;stroke:var(--r);stroke-width:1.5px;vector-effect:non-scaling-stroke;stroke-linejoin:round}
th,td{text-align:left;padding:.3rem .5rem .3rem 0;border-bottom:1px solid var(--line);
vertical-align:top;font-weight:400}
thead th{color:var(--dim);font-size:.8rem}
tbody th{font-weight:600}
td{overflow-wrap:anywhere}
td:empty::after{content:"–";color:var(--dim)}
.printed td{border-bottom:1px solid var(--line);padding-bottom:.3rem}
.printed summary{padding:.1rem 0;font-size:.95em}
pre{margin:0;padding:.5rem .7rem;max-height:24rem;overflow:auto;background:var(--soft);border-radius:4px;
font:.82rem/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.bad{color:var(--f);font-weight:600}
.paused{color:var(--pl);font-weight:600}
.running{color:var(--r);font-weight:600}
time{white-space:nowrap}
@media (max-width:62rem){
table{font-size:.8rem}
.states time{white-space:normal}
}
@media (max-width:46rem){
table{font-size:.9rem}
:root{--label:0px}
body{padding:.75rem .75rem 2rem}
.rows li{display:block;padding-bottom:.2rem}
.rows p{width:auto;padding:.3rem 0 .1rem;position:relative;z-index:3;background:var(--bg)}
.rows .z{height:2.2rem;bottom:-.2rem}
.z span{margin-top:.6rem}
.rows .p{height:1.6rem;bottom:-.1rem}
.rows small{display:inline}
.rows bdi{display:inline;margin-right:.5rem}
.axis .minor{display:none}
thead{position:absolute;left:-100rem}
tr{display:flex;flex-wrap:wrap;gap:.1rem .8rem;padding:.45rem 0;border-bottom:1px solid var(--line)}
th,td{border:0;padding:0}
tbody th{flex:1 0 100%}
td:empty{display:none}
.states td:nth-child(4)::before{content:"for "}
.states td:nth-child(5)::before{content:"lease "}
.states td:nth-child(6)::before{content:"waiting "}
.states td:nth-child(7)::before{content:"last run "}
.states td:nth-child(9)::before{content:"average "}
td::before{color:var(--dim);font-weight:400}
.wrong tbody th{flex:none;max-width:100%}
.printed td{border:0;padding:0}
}
@media (hover:none){
.rows i:hover,.rows i:focus{z-index:5}
.rows i:hover::after,.rows i:focus::after{content:"\2068" var(--name) "\2069: " attr(title);position:fixed;
left:.75rem;right:.75rem;bottom:.75rem;z-index:9;padding:.6rem .8rem;
background:var(--fg);color:var(--bg);border-radius:6px;font:500 .9rem/1.4 system-ui,sans-serif;text-indent:0;
white-space:normal}
}
@media print{
:root{--bg:#fff;--fg:#000;--dim:#444;--line:#ccc;--label:12rem}
body{max-width:none;padding:0;font-size:11px}
table,summary{font-size:10px}
thead th,small{font-size:9px!important}
h2{font-size:14px}
h3{font-size:12px}
tbody a{color:inherit;text-decoration:none}
.axis{position:relative}
.skip,nav,.filter{display:none!important}
table a{overflow-wrap:break-word}
li,tr{break-inside:avoid}
h2{break-after:avoid}
}
`
