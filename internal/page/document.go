package page

import (
	"crypto/sha256"
	_ "embed" // the page's document, style and script
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/anteroom/anteroom"
)

//go:embed document/page.html
var documentSource string

//go:embed document/lot.html
var lotSource string

//go:embed document/style.css
var styleSource string

//go:embed document/script.js
var scriptSource string

// theBook is made once in a process: the texts and the cut of the default page are the same for
// every room.
var theBook = sync.OnceValue(makeBook) //nolint:gochecknoglobals // see above; read only after it is made

// book is the default page in every published language.
type book struct {
	documents map[string]*document
	// policy is the Content-Security-Policy that names the style and the script by their hashes.
	policy string
}

// document is the default page in one language: static bytes and, between them, slots.
type document struct {
	locale *locale
	pieces []piece
	// lot is the part about the draw, which only rooms with one show: the others' pages stay small.
	lot []piece
	// heading and next are the escaped texts of each state.
	heading, next [states][]byte
}

// piece is a run of static bytes and the slot that follows it.
type piece struct {
	static string
	slot   slot
}

// slot is a place in the page that differs from visitor to visitor.
type slot uint8

const (
	slotNone slot = iota
	slotState
	slotHeading
	slotNext
	slotRoom
	slotTicket
	slotWaitURL
	slotReturn
	slotPlaceHidden
	slotPosition
	slotWait
	slotWaiting
	slotUpdatedISO
	slotUpdated
	slotHintHidden
	slotLot
	slotLotTicketHidden
	slotLotTicket
	slotLotNumber
	slotCommitment
	slotSealHidden
	slotSealed
	slotRoot
	slotRecordHidden
	slotRecord
)

// slotNamed finds a slot by its name in the document.
func slotNamed(name string) (slot, bool) {
	s, ok := map[string]slot{
		"state": slotState, "heading": slotHeading, "next": slotNext, "room": slotRoom,
		"ticket": slotTicket, "waitURL": slotWaitURL, "return": slotReturn,
		"placeHidden": slotPlaceHidden, "position": slotPosition, "wait": slotWait,
		"waiting": slotWaiting, "updatedISO": slotUpdatedISO, "updated": slotUpdated,
		"hintHidden": slotHintHidden,
		"lot":        slotLot, "lotTicketHidden": slotLotTicketHidden, "lotTicket": slotLotTicket, "lotNumber": slotLotNumber,
		"commitment": slotCommitment, "sealHidden": slotSealHidden, "sealed": slotSealed, "root": slotRoot,
		"recordHidden": slotRecordHidden, "record": slotRecord,
	}[name]
	return s, ok
}

// makeBook panics when the embedded files do not fit each other: they are part of the program, and
// the tests read every one of them.
func makeBook() *book {
	style, script := compact(styleSource), compact(scriptSource)
	b := &book{
		documents: make(map[string]*document),
		policy: "default-src 'none'; style-src " + hashSource(style) + "; script-src " + hashSource(script) +
			"; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'",
	}
	for _, language := range Languages() {
		l, err := readLocale(language)
		if err != nil {
			panic(err.Error())
		}
		b.documents[language] = makeDocument(language, l, style, script)
	}
	return b
}

func (b *book) document(language, fallback string) *document {
	if d := b.documents[language]; d != nil {
		return d
	}
	if d := b.documents[fallback]; d != nil {
		return d
	}
	return b.documents[anteroom.DefaultLanguage]
}

// compact leaves out indentation, empty lines and whole-line comments.
func compact(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*") {
			continue
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

func hashSource(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// makeDocument fills in all that is the same for every visitor and cuts the rest into pieces.
func makeDocument(language string, l *locale, style, script string) *document {
	d := &document{locale: l}
	for s, text := range l.headings() {
		d.heading[s] = appendHTML(nil, text)
	}
	for s, text := range l.explanations() {
		d.next[s] = appendHTML(nil, text)
	}
	fixed := l.fixed()
	fixed["lang"], fixed["dir"] = language, l.Dir
	// The two are pieces of their own, so that all languages share their bytes.
	shared := map[string]string{"style": style, "script": script}

	d.pieces = cut(documentSource, fixed, shared)
	d.lot = cut(lotSource, fixed, shared)
	return d
}

// cut fills in texts and gives the pieces between the slots.
func cut(source string, fixed, shared map[string]string) (pieces []piece) {
	var static strings.Builder
	rest := strings.ReplaceAll(source, "\n", "")
	for {
		before, after, found := strings.Cut(rest, "{{")
		static.WriteString(before)
		if !found {
			break
		}
		name, tail, _ := strings.Cut(after, "}}")
		rest = tail
		if text, ok := fixed[name]; ok {
			static.WriteString(text)
			continue
		}
		if text, ok := shared[name]; ok {
			pieces = append(pieces, piece{static: static.String()}, piece{static: text})
			static.Reset()
			continue
		}
		s, ok := slotNamed(name)
		if !ok {
			panic(fmt.Sprintf("page: the document names %q, which is neither a text nor a slot", name))
		}
		pieces = append(pieces, piece{static: static.String(), slot: s})
		static.Reset()
	}
	return append(pieces, piece{static: static.String()})
}

// fixed are the texts of one language by their names in the document, escaped.
func (l *locale) fixed() map[string]string {
	m := map[string]string{
		"t.position": l.Position, "t.wait": l.Wait, "t.waiting": l.Waiting, "t.updated": l.Updated,
		"t.ticket": l.Ticket, "t.next": l.Next, "t.progress": l.Progress, "t.cookies": l.Cookies,
		"t.check": l.Check, "t.lot": l.Lot, "t.lotText": l.LotText, "t.lotTicket": l.LotTicket,
		"t.lotFixed": l.LotFixed, "t.lotSealed": l.LotSealed, "t.lotRecord": l.LotRecord,
	}
	for name, text := range m {
		m[name] = string(appendHTML(nil, text))
	}
	m["texts"] = l.scriptTexts()
	return m
}

// scriptTexts is the JSON that the script reads: what it may have to say later. The encoder escapes
// what could end the element.
func (l *locale) scriptTexts() string {
	heading, next := make(map[string]string, states), make(map[string]string, states)
	for s, text := range l.headings() {
		heading[state(s).String()] = text
	}
	for s, text := range l.explanations() {
		next[state(s).String()] = text
	}
	b, err := json.Marshal(map[string]any{
		"heading": heading, "nextText": next, "group": l.Group, "digits": l.Digits, "lakh": l.Lakh,
		"position": l.Position, "wait": l.Wait, "about": l.About, "min": l.Min, "hour": l.Hour,
		"unknown": l.Unknown, "more": l.More, "longer": l.Longer, "ahead": l.LongerAhead, "settings": l.LongerSettings,
		"offline": l.Offline, "blocked": l.Blocked,
	})
	if err != nil {
		panic("page: texts of the script: " + err.Error())
	}
	return string(b)
}

func (l *locale) headings() [states]string {
	return [states]string{stateLine: l.Line, stateDraw: l.Draw, stateAll: l.All, stateNo: l.No, stateTurn: l.Turn}
}

func (l *locale) explanations() [states]string {
	return [states]string{
		stateLine: l.NextLine, stateDraw: l.NextDraw, stateAll: l.NextAll, stateNo: l.NextNo, stateTurn: l.NextTurn,
	}
}
