package markup

import (
	"strings"
	"testing"
)

// body is a page without its first line.
func body(write func(*Page)) string {
	p := New(0)
	write(p)
	return strings.TrimPrefix(string(p.Bytes()), "<!DOCTYPE html>\n")
}

func TestTextStaysText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a < b && c > d":            "a &lt; b &amp;&amp; c &gt; d",
		`"it's"`:                    "&quot;it&#39;s&quot;",
		"</script><script>":         "&lt;/script&gt;&lt;script&gt;",
		"日本 é":                      "日本 é",
		"a\x00b\x1b[31m\x7f":        "a\ufffdb\ufffd[31m\ufffd",
		"\xff\xfe":                  "\ufffd\ufffd",
		"abc\u202edef\u2066\u200f.": "abc\ufffddef\ufffd\ufffd.",
		"&amp;":                     "&amp;amp;",
		"\ufffe\ufdd0":              "\ufffd\ufffd",
	} {
		if got := body(func(p *Page) { p.Text(text) }); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}

func TestAttributesAreThoseThatAskForNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attributes []string
		want       string
	}{
		{[]string{"class", "a"}, "<i class=a></i>"},
		{[]string{"title", `"><script>`}, `<i title="&quot;&gt;&lt;script&gt;"></i>`},
		{[]string{"title", "two words"}, `<i title="two words"></i>`},
		{[]string{"open", ""}, "<i open></i>"},
		{[]string{"href", "#j1"}, "<i href=#j1></i>"},
		{[]string{"href", "javascript:alert(1)"}, "<i></i>"},
		{[]string{"href", "https://example.org"}, "<i></i>"},
		{[]string{"src", "x.png"}, "<i></i>"},
		{[]string{"onclick", "alert(1)"}, "<i></i>"},
		{[]string{"style", "left:1%;width:2.5%"}, "<i style=left:1%;width:2.5%></i>"},
		{[]string{"style", "background:url(http://example.org)"}, "<i></i>"},
		{[]string{"style", Property("name", "a job:1")}, `<i style="--name:&quot;a job:1&quot;"></i>`},
		{[]string{"style", Property("name", "\"\\;}é")}, `<i style="--name:&quot;\22 \5c ;\7d \e9 &quot;"></i>`},
		{[]string{"style", `--name:"a";background:url(x);--name:"b"`}, "<i></i>"},
		{[]string{"style", `--name:"a\"`}, "<i></i>"},
		{[]string{"style", `name:"a"`}, "<i></i>"},
		{[]string{"style", `--name:"`}, "<i></i>"},
		{[]string{"aria-label", "a b"}, `<i aria-label="a b"></i>`},
		{[]string{`cl"ass`, "x"}, "<i></i>"},
		{[]string{"class"}, "<i></i>"},
	} {
		if got := body(func(p *Page) { p.Element("i", "", c.attributes...) }); got != c.want {
			t.Errorf("%q is written %s, want %s", c.attributes, got, c.want)
		}
	}
}

func TestWhatIsOpenIsClosed(t *testing.T) {
	t.Parallel()
	got := body(func(p *Page) {
		p.Close() // of nothing
		p.Open("ul")
		p.Open("li", "id", "j1")
		p.Element("b", "x")
		p.Void("br")
	})
	if want := "<ul><li id=j1><b>x</b><br></li></ul>"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestASheetCannotEndItselfNorNameAnAddress(t *testing.T) {
	t.Parallel()
	got := body(func(p *Page) { p.Style("a{}</style><script>@import 'x';b{background:url(x)}") })
	if strings.Count(got, "<") != 2 || strings.Contains(got, "@import") || strings.Contains(got, "url(") {
		t.Error(got)
	}
}

func TestAScriptCannotEndItself(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`f("&>")`:                    `<script>f("&>")</script>`,
		"</script><img onerror=f()>": "",
		"<!--":                       "",
	} {
		if got := body(func(p *Page) { p.Script(script) }); got != want {
			t.Errorf("%q is written %q", script, got)
		}
	}
}

func TestThePolicyForbidsAllThatIsNotOnThePage(t *testing.T) {
	t.Parallel()
	got := body(func(p *Page) { p.Policy("alert(1)"); p.Refresh(60) })
	for _, want := range []string{`<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; `,
		"script-src &#39;sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=&#39;; ",
		`<meta http-equiv="refresh" content="60">`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}
