package page

import (
	"slices"
	"strconv"
	"strings"

	"redlockrun/internal/lock"
)

// filter writes the fields that choose jobs by text and host. The script shows them: without it they would do nothing.
func (h *document) filter() {
	h.Open("p", "class", "filter", "hidden", "")
	h.Open("label")
	h.Text("Filter ")
	h.Void("input", "type", "search")
	h.Close()
	h.Text(" ")
	h.Open("label")
	h.Text("Host ")
	h.Open("select")
	h.Element("option", "all", "value", "")
	for i, host := range h.hosts {
		h.Element("option", lock.Escaped(host), "value", strconv.Itoa(i))
	}
	h.Close()
	h.Close()
	h.Text(" ")
	h.Element("span", "", "role", "status")
	h.Close()
}

// hosts are those of the holders, of the last run, and of the runs of the window.
func (r *row) hosts() (hosts []string) {
	add := func(host string) {
		if host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	add(r.job.Holder.Host)
	add(r.job.LastEnd.Host)
	for _, h := range r.job.Holders {
		add(h.Host)
	}
	for _, s := range r.spans {
		if s.entry.Act == "" {
			add(s.entry.Host)
		}
	}
	return hosts
}

// hostNumbers are the hosts of a row as the script reads them: ,0,3,
func (h *document) hostNumbers(r *row) string {
	var numbers strings.Builder
	for _, host := range r.hosts() {
		i, _ := slices.BinarySearch(h.hosts, host)
		numbers.WriteString("," + strconv.Itoa(i))
	}
	return numbers.String() + ","
}

// script filters the jobs, and opens what a link leads to. It keeps the filter for as long as the tab is open, as a
// browser may reload the page each minute. It has no "<", so that it cannot end its element.
const script = `"use strict";{
const all=(of,what)=>[...of.querySelectorAll(what)],box=document.querySelector(".filter");
const folds=all(document,"main details"),wasOpen=folds.map(d=>d.open),jobs=new Map;
let rows;
const read=()=>{
rows=all(document,".rows li").map(li=>{
const row={parts:[li],hosts:li.dataset.hosts,text:li.textContent};jobs.set("#"+li.id,row);return row});
for(const tr of all(document,".states tbody tr")){const row=jobs.get(tr.querySelector("a").hash);row.parts.push(tr);
row.text+=" "+tr.textContent}
for(const row of rows)row.text=row.text.toLowerCase()};
const choose=(text,host,name)=>{
if(!rows)read();
const words=text.toLowerCase().split(" "),fits=s=>words.every(w=>s.includes(w)),on=!!(text||host);
let shown=0,keep=true;
for(const row of rows){const is=fits(row.text)&&(!host||row.hosts.includes(","+host+","));shown+=is;
for(const part of row.parts)part.hidden=!is}
for(const tr of all(document,".wrong>tbody>tr")){
if(tr.className!="printed")keep=fits(tr.textContent.toLowerCase())&&(!host||tr.cells[2].textContent==name);
tr.hidden=!keep}
folds.forEach((d,i)=>{if(d.closest(".printed"))return;
d.hidden=on&&!d.querySelector("li:not([hidden]),tr:not([hidden]) th[scope=row]");
d.open=on||wasOpen[i]});
for(const table of all(document,"section>.states")){table.hidden=!table.querySelector("tbody tr:not([hidden])");
table.previousElementSibling.hidden=table.hidden}
box.querySelector("[role=status]").textContent=on?shown+" of "+rows.length+" jobs":""};
if(box){
const [text,host]=all(box,"input,select"),key="redlockrun filter";
const apply=()=>{choose(text.value.trim(),host.value,host.selectedOptions[0].textContent);
try{sessionStorage.setItem(key,JSON.stringify([text.value,host.selectedOptions[0].textContent]))}catch{}};
try{const [t,h]=JSON.parse(sessionStorage.getItem(key));text.value=t;
for(const o of host.options)if(o.textContent==h)o.selected=true;
if(t||host.value)apply()}catch{}
text.oninput=host.oninput=apply;box.hidden=false}
const reveal=()=>{const to=document.getElementById(location.hash.slice(1)),fold=to&&to.closest("details");
if(fold&&!fold.open){fold.open=true;to.scrollIntoView()}};
addEventListener("hashchange",reveal);reveal();
}`
