package server_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A random source of requests.
type random struct {
	draw  func(int) int
	steps []step
	drawn int // of numbers that are drawn once
}

func one[T any](r *random, list []T) T { return list[r.draw(len(list))] }

// chance is true once in n times.
func (r *random) chance(n int) bool { return r.draw(n) == 0 }

var (
	jobs = []string{"job", "other"}
	runs = []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ", "01CKZ3NDEKTSV4RRFFQ69G5FAV",
		"01DX5ZZKBKACTAV9WEVGEMMVS0"}
	channels = []string{"c", "redlockrun:{job}:", "redlockrun:{job}:" + runs[0], "redlockrun:{job}:" + runs[1],
		"redlockrun:{other}:" + runs[0]}
	fields = []string{"open", "f", "g", "mean", "unconfirmed", "looks", "listed", "once", runs[0], runs[1]}
	values = []string{"", "x", "0", "7", "-3", "3.5", "1e3", "9223372036854775807", "-9223372036854775808", "007", " 1",
		"9007199254740991",
		"1763790000000 p2", "1763790000000", "closed 5 x",
		`{"pause":"` + runs[0] + `","v":1,"by":"a","why":"deploy 7"}`,
		`{"run":"` + runs[0] + `","v":1,"host":"h","pid":1,"fence":7,"at":1000}`,
		`{"run":"` + runs[1] + `","vote":"00000001.00000001.0","host":"h"}`, "\x00\xff\r\n",
		strings.Repeat("long", 300)}
	numbers = []string{"0", "1", "-1", "2", "3", "-2", "10", "-100", "1000", "9223372036854775807",
		"-9223372036854775808",
		"", "x", "1.5", "+1", "01", " 1", "99999999999999999999"}
	spans = []string{"1", "5", "1000", "2000", "12000", "60000", "7776000000", "0", "-1", "x", "9223372036854775807",
		"9223372036854775000"}
	score = []string{"0", "1", "2", "3", "-1", "1.5", "0.1", "1e20", "inf", "-inf", "+5", "x", "", "nan", "1e400",
		"17e-7"}
	ends = []string{"(1", "(2.5", "-inf", "+inf", "2", "0", "(", "x", "1.5"}
)

// keys are all that anything is kept at.
func keys() (all []string) {
	for _, job := range jobs {
		lock := "redlockrun:{" + job + "}"
		all = append(all, lock)
		for _, part := range []string{"fence", "line", "who", "slots", "paused", "job", "runs", "bad",
			"gone:" + runs[0], "gone:" + runs[1]} {
			all = append(all, lock+":"+part)
		}
	}
	return append(all, "redlockrun:jobs", "x", "y")
}

// shapes are requests: $k is a key, $v a value, $n a number, $t a time, $m a member, $f a field, $s a score, $e an end
// of a range, $c a channel.
var shapes = strings.Split(strings.TrimSpace(`
GET $k
SET $k $v
SET $k $v PX $t
SET $k $v px $t nx
SET $k $v EX $n XX
SET $k $v NX GET
SET $k $v XX GET PX $t
SET $k $v KEEPTTL
SET $k $v KEEPTTL PX $t
SET $k $v PX
SET $k $v PX $t EX $n
SET $k $v PXAT $n
SET $k $v $v
SET $k
GETRANGE $k $n $n
GETRANGE $k 0 1023
STRLEN $k
INCR $k
INCRBY $k $n
DEL $k
DEL $k $k $k
UNLINK $k
EXISTS $k $k
TYPE $k
PTTL $k
TTL $k
PEXPIRE $k $t
PEXPIRE $k $t
EXPIRE $k $n
PEXPIREAT $k $n
PERSIST $k
KEYS *
KEYS redlockrun:*:f?nce
KEYS *[x-z]
SCAN 0 MATCH redlockrun:* COUNT 1000
SCAN 0 COUNT 0
SCAN 0 COUNT x
SCAN 0 COUNT
SCAN x
HSET $k $f $v
HSET $k $f $v $f $v
HSET $k $f $v $f
HGET $k $f
HMGET $k $f $f $f
HDEL $k $f $f
HDEL $k $f
HLEN $k
HEXISTS $k $f
HGETALL $k
HKEYS $k
HINCRBY $k $f $n
LPUSH $k $v
LPUSH $k $v $m $v
RPUSH $k $m $v
LRANGE $k $n $n
LINDEX $k $n
LTRIM $k $n $n
LTRIM $k 0 3
LLEN $k
ZADD $k $s $m
ZADD $k $s $m $s $m
ZADD $k NX $s $m
ZADD $k XX CH $s $m $s $m
ZADD $k NX XX $s $m
ZADD $k $s
ZADD $k $s $m $s
ZREM $k $m
ZREM $k $m $m
ZCARD $k
ZSCORE $k $m
ZRANK $k $m
ZRANGE $k $n $n
ZRANGE $k $n $n WITHSCORES
ZRANGE $k 0 -1 $v
ZREMRANGEBYSCORE $k $e $e
ZSCAN $k 0 COUNT 1000
ZSCAN y 0
ZSCAN y $v
PUBLISH $c $v
PUBLISH $c
PUBSUB NUMSUB $c $c
PUBSUB NUMPAT
PUBSUB $v
PING
PING $v
TIME
TIME $v
SELECT 0
SELECT x
CLIENT SETNAME a
CLIENT GETNAME
WAIT 0 0
HELLO 4
HELLO x
SCRIPT EXISTS $v
EVALSHA $v 0
EVAL $v 0
EVAL return $n
EVAL return{KEYS[1],ARGV[1]} $n a b
NOSUCH $v $n
FLUSHALL
`), "\n")

// texts are scripts that try what the steps hardly do.
var texts = []string{
	`return {1, 2.9, -2.9, 'x', {3, {}}, true, false, nil, 4}`,
	`return {1e15, 2^53, 3.99, '1e3', tostring(10), 10 .. ''}`,
	`return redis.call('SET', KEYS[1], ARGV[1])`,
	`return redis.call('SET', KEYS[1], 0.1 + tonumber(ARGV[1] == '' and 1 or 2))`,
	`return {redis.call('HGET', KEYS[1], 'f')}`,
	`return {redis.pcall('HGET', KEYS[1], 'f')}`,
	`return redis.pcall('HGET', KEYS[1], 'f')`,
	`return type(redis.call('GET', KEYS[1]))`,
	`return redis.call('HMGET', KEYS[1], 'f', 'g', 'none')`,
	`return redis.call('TYPE', KEYS[1]).ok`,
	`return redis.status_reply(ARGV[1])`,
	`return redis.error_reply('MINE ' .. ARGV[2])`,
	`return redis.error_reply('-MINE it is')`,
	`return {err = 'MINE it is'}`,
	`return {ok = 'FINE'}`,
	`return`,
	"local a = 1\n\nredis.call('NOSUCH', KEYS[1])\nreturn a",
	"local a = 1\nredis.call('GET')\nreturn a",
	"\n\nredis.call('SUBSCRIBE', 'x')",
	`redis.call('GET', {})`,
	`redis.call('GET', nil)`,
	`redis.call()`,
	"local x = nil\nreturn x.y",
	"\nreturn 1 + ARGV[1]",
	"\nerror('mine')",
	"\nerror({err = 'MINE it is'})",
	"return nosuch",
	"nosuch = 1",
	"return {pcall(function() return nosuch end)}",
	"return {pcall(redis.call, 'NOSUCH')}",
	"local ok, e = pcall(redis.call, 'HGET', KEYS[1], 'f') return {tostring(ok), type(e)}",
	`local f = function(...) return select('#', ...), ... end return {f(redis.call('TIME'))}`,
	`return redis.call('zrange', KEYS[1], 0, -1, 'withscores')`,
	`return redis.call('PEXPIRE', KEYS[1], 1e3)`,
	`return redis.call('PEXPIRE', KEYS[1], 0.5)`,
	`return redis.pcall('PEXPIRE', KEYS[1], '').err`,
	`redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], 'x', 'PX', 1) ` +
		`return {redis.call('GET', KEYS[1]), redis.call('TIME')}`,
	`redis.call('HSET', KEYS[1], 'f', ARGV[1]) return redis.call('HLEN', KEYS[1])`,
	`redis.call('LPUSH', KEYS[1], ARGV[1]) return redis.call('LLEN', KEYS[1])`,
	`return {string.format('%d %s %.0f %5.2f %x %q %%', 3, 'x', 2^52, 1.005, 255, 'a"b'), ` +
		`string.rep('ab', 3), ('x'):upper(), #ARGV}`,
	`return {string.format('%d', '12'), string.format('%s', 1.5), tostring(1e100), 2^43 .. ''}`,
	`return {tonumber(string.match('x', 'y')) or 'none', ` +
		`select('#', string.match('x', 'y')), select('#', string.find('x', 'y'))}`,
	`return {string.match('open 12 abc/d x y', '^open (%d+) (%S+)(.*)$')}`,
	`return {string.find('a.b.c', '.', 1, true), string.find('abc', 'b()')}`,
	`return {string.gsub('hello', 'l', {l = 'L'}), string.gsub('a b', '%w', '%0%0')}`,
	`local t = {} for k, v in string.gmatch('a=1, b=2', '(%w+)=(%w+)') do t[#t + 1] = k .. v end return t`,
	`local t = {3, 1, 2} table.sort(t) table.insert(t, 1, 9) table.remove(t) return {unpack(t)}`,
	`return {tonumber('0x10'), tonumber(' 5 '), tonumber('5x') or 'none', tonumber('') or 'none', tonumber('1e2')}`,
	`return {math.floor(-2.5), math.max(1, 2), math.min(3, -1), math.huge > 1}`,
	`local function f() return false end local x, y = 1, 2 ` +
		`x = f() and 5 y = not y and 7 return {tostring(x), tostring(y)}`,
	`local ok, why = pcall(cjson.decode, '{' .. ARGV[1]) return {tostring(ok), type(why)}`,
	`if ARGV[1]:sub(1, 1) ~= '{' then return end ` +
		`local ok, p = pcall(cjson.decode, ARGV[1]) return ok and p.why or 'none'`,
	`return redis.sha1hex(ARGV[1])`,
	`return {KEYS[3] or 'no third', ARGV[3] or 'no third', #KEYS, #ARGV}`,
	`return this is no script`,
	`return "unfinished`,
}

// fill puts something into the places of a shape.
func (r *random) fill(shape string) []string {
	words := strings.Split(shape, " ")
	for i, word := range words {
		switch word {
		case "$k":
			words[i] = one(r, keys())
		case "$v":
			words[i] = one(r, values)
		case "$n":
			words[i] = one(r, numbers)
		case "$t":
			words[i] = one(r, spans)
		case "$m":
			words[i] = one(r, append(runs, jobs...))
		case "$f":
			words[i] = one(r, fields)
		case "$s":
			words[i] = one(r, score)
		case "$e":
			words[i] = one(r, ends)
		case "$c":
			words[i] = one(r, channels)
		}
	}
	return words
}

// command is a request that is no script.
func (r *random) command() []string {
	words := r.fill(one(r, shapes))
	if strings.HasSuffix(words[min(1, len(words)-1)], ":slots") && words[0] == "HSET" {
		for i := 3; i < len(words); i += 2 {
			r.drawn++ // where several were touched last, the one that is forgotten is anybody's guess
			words[i] = fmt.Sprintf("open %d -", r.drawn)
		}
	}
	return words
}

func (r *random) script() []string {
	return []string{"EVAL", one(r, texts), "2", one(r, keys()), one(r, keys()), one(r, values), one(r, numbers)}
}

// step is one of ours, by one of a few runs, for one of two jobs; now and then something in it is wrong.
func (r *random) step(now time.Time) []string {
	s := one(r, r.steps)
	keys, args := one(r, s.keys), one(r, s.args)
	run, job := one(r, runs), one(r, jobs)
	words := []string{"EVAL", s.text, strconv.Itoa(len(keys))}
	put := strings.NewReplacer("RUN", run, "{job}", "{"+job+"}", "{other}", "{"+job+"}", "INSTANT",
		strconv.FormatInt(now.UnixMilli()-int64(r.draw(5000)), 10))
	for _, word := range append(append([]string{}, keys...), args...) {
		words = append(words, put.Replace(word))
	}
	if delicate(s.text) {
		return words
	}
	for i := 3 + len(keys); i < len(words); i++ {
		if r.chance(25) {
			words[i] = r.other(words[i])
		}
	}
	if r.chance(10) {
		i := 3 + r.draw(len(words)-3)
		words[i] = one(r, values)
	}
	return words
}

// delicate scripts would loop for ever by a wrong number, or show a part of what has no order.
func delicate(text string) bool {
	return strings.Contains(text, "SCAN'") || strings.Contains(text, "barred[ARGV[i]]")
}

// other is a word like the given one.
func (r *random) other(word string) string {
	if _, err := strconv.Atoi(word); err == nil {
		return one(r, append(spans, numbers...))
	}
	switch word {
	case "once", "wait", "poll":
		return one(r, []string{"once", "wait", "poll"})
	case "":
		return one(r, values)
	}
	return word
}

// passes are for how long nothing happens.
var passes = []time.Duration{
	time.Millisecond, 5 * time.Millisecond, 300 * time.Millisecond, time.Second, 2001 * time.Millisecond,
	2 * time.Second,
	13 * time.Second, time.Minute, time.Hour, 24 * time.Hour, 91 * 24 * time.Hour,
}

// random makes one step of the world.
func (p *pair) random(r *random) {
	p.pass(time.Millisecond)
	tw := one(r, p.conns)
	if tw.heard {
		tw.compareMessages()
	}
	switch n := r.draw(100); {
	case n < 5:
		p.pass(passes[min(r.draw(len(passes)), r.draw(len(passes)))])
	case n < 6:
		p.fill(r.chance(2))
	case n < 8:
		tw.listen(r)
	case n < 35:
		tw.same(r.command()...)
	case n < 45:
		tw.same(r.script()...)
	default:
		tw.same(r.step(p.now)...)
	}
}

// fill has both run out of memory, or have enough again.
func (p *pair) fill(full bool) {
	p.model.Fill(full)
	most := "0"
	if full {
		most = "1"
	}
	p.log = append(p.log, "maxmemory "+most)
	p.conns[0].ask("CONFIG", "SET", "maxmemory", most)
}

// listen has the connection subscribe, or be closed.
func (tw *twin) listen(r *random) {
	if tw == tw.of.conns[0] { // it must be able to ask
		return
	}
	if tw.heard {
		tw.of.log = append(tw.of.log, "close")
		tw.close()
		return
	}
	tw.heard = true
	tw.same("SUBSCRIBE", one(r, channels))
}
