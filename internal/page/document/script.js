// Plain ES2018. Comment lines and indentation are taken out when the page is put together.
(function () {
'use strict';
const doc = document, body = doc.body, at = id => doc.getElementById(id);
const waitURL = body.dataset.wait, texts = JSON.parse(at('texts').textContent);
const room = doc.querySelector('.room').textContent;
// Without these the Refresh header goes on doing the work.
if (!waitURL || !window.fetch || !window.AbortController) return;

let id = body.dataset.ticket, odd = 0, fails = 0, busy = false, over = false;
let timer, asked = 0, notBefore = 0, said, saidAt = 0, shown, late = '';

// What must outlive a reload of this tab is kept per ticket: the first place and the promise.
const read = key => { try { return JSON.parse(sessionStorage.getItem(key)) || {}; } catch (e) { return {}; } };
const write = (key, value) => { try { sessionStorage.setItem(key, JSON.stringify(value)); return true; } catch (e) { return false; } };
const mine = 'anteroom ' + id, memory = read(mine);

// Only a changed text is written, so that focus, selection and screen readers stay where they are.
const set = (name, text) => { const e = at(name); if (e.textContent !== text) e.textContent = text; };
const show = (name, on) => { at(name).hidden = !on; };
const note = text => { set('note', text); show('note', text); };
const say = (text, urgent) => {
  const first = said === undefined, now = Date.now();
  if (text === said || (!urgent && !first && now - saidAt < 1e4)) return;
  said = text;
  saidAt = now;
  if (!first || urgent) set('status', text);
};

const digits = s => texts.digits ? s.replace(/\d/g, d => texts.digits[d]) : s;
const number = n => {
  const s = String(n);
  return digits(s.length < 5 ? s : s.replace(texts.lakh ? /\B(?=(\d\d)*\d{3}$)/g : /\B(?=(\d{3})+$)/g, texts.group));
};
const minutes = s => Math.max(1, Math.ceil(s / 60));
const long = m => m < 60 ? texts.min.replace('{n}', digits(m + ''))
  : texts.hour.replace('{h}', digits(Math.floor(m / 60) + '')).replace('{m}', digits(m % 60 + ''));
const span = (low, mid, high) => {
  const a = minutes(low), b = minutes(high);
  if (a >= b) return texts.about.replace('{t}', long(minutes(mid)));
  return b < 60 ? texts.min.replace('{n}', digits(a + '–' + b)) : long(a) + ' – ' + long(b);
};

// promise keeps the shown moment of entry: an earlier one is shown at once, a later one only when
// it moved by a tenth of the whole wait, and then the page says why.
const promise = a => {
  const now = Date.now() / 1e3, mid = a.waitTimeSeconds;
  if (a.isRandomQueue) {
    if (!shown || Math.abs(mid - shown.mid) >= shown.mid / 10 || a.waitTimeIsRange !== shown.range)
      shown = { mid, low: a.waitTimeLowSeconds, high: a.waitTimeHighSeconds, range: a.waitTimeIsRange };
    return span(shown.low, shown.mid, shown.high);
  }
  const due = now + mid, old = memory.due;
  memory.since = memory.since || now;
  const slip = old ? due - old : 0, big = old && slip >= Math.max(10, (old - memory.since) / 10);
  if (!old || slip <= 0 || big) {
    memory.due = due;
    late = big ? texts[a.waitTimeReason] || texts.longer : slip < -60 ? '' : late;
  }
  const back = Math.max(0, due - memory.due);
  return span(a.waitTimeLowSeconds - back, mid - back, a.waitTimeHighSeconds - back);
};
const estimate = a => {
  if (a.waitTimeKnown) return promise(a);
  shown = memory.due = undefined;
  late = '';
  return a.queueIsFull ? texts.more : texts.unknown;
};

const progress = (state, place) => {
  const bar = at('bar');
  if (state === 'turn') { bar.value = 100; return; }
  if (state !== 'line' || !place) { bar.removeAttribute('value'); return; }
  memory.first = Math.max(memory.first || 0, place);
  bar.value = 100 * (memory.first - place + 1) / (memory.first + 1);
};

const turnTo = state => {
  body.dataset.state = state;
  set('heading', texts.heading[state]);
  set('next', texts.nextText[state]);
};
const render = a => {
  const state = a.yourTurn ? 'turn' : a.queueAll ? 'all' : a.isRejectQueue ? 'no' : a.isRandomQueue ? 'draw' : 'line';
  const place = state === 'line' || state === 'all' ? a.position : 0, wait = estimate(a), head = texts.heading[state];
  turnTo(state);
  show('place', place);
  if (place) set('position', number(place));
  set('wait', wait);
  set('waiting', number(a.usersWaiting));
  // Elements about the draw name the field that they show.
  if (a.draw) doc.querySelectorAll('[data-d]').forEach(e => {
    const v = a.draw[e.dataset.d];
    e[e.href ? 'href' : 'textContent'] = v;
    e.closest('a,div').hidden = !v;
  });
  progress(state, place);
  const time = new Date(a.lastUpdated);
  if (!isNaN(time)) {
    at('updated').dateTime = a.lastUpdated;
    set('updated', time.toLocaleTimeString(doc.documentElement.lang));
  }
  note(state === 'line' ? late : '');
  doc.title = (place ? number(place) + ' · ' : '') + head + ' · ' + room;
  const parts = state === 'line' || state === 'draw' ? [texts.wait + ': ' + wait] : [];
  if (place) parts.unshift(texts.position + ': ' + number(place));
  if (late && state === 'line') parts.push(late);
  say(parts.join('. ') || head, !parts.length);
  write(mine, memory);
  return state;
};

// leave loads the asked path, once. Should it lead back here again and again, each attempt within
// five minutes of the last waits twice as long.
const leave = () => {
  over = true;
  const key = 'anteroom entries', now = Date.now(), past = read(key);
  const n = now - past.at < 3e5 ? past.n : 0;
  const kept = write(key, { n: n + 1, at: now });
  // replace to an address with a fragment would only scroll.
  timer = setTimeout(() => location.hash ? location.reload() : location.replace(location.href),
    kept ? n && Math.min(60, 2 ** n) * 1e3 : 5e3);
};
const enter = () => {
  turnTo('turn');
  progress('turn');
  doc.title = texts.heading.turn + ' · ' + room;
  note('');
  say(texts.heading.turn, true);
  leave();
};
const blocked = () => {
  over = true;
  note(texts.blocked);
  say(texts.blocked, true);
};

// hear takes one answer and tells in how many seconds to ask again.
const hear = a => {
  if (a.yourTurn || a.inWaitingRoom === false) { enter(); return; }
  odd = a.ticketId && a.ticketId === id ? 0 : odd + 1;
  id = a.ticketId;
  // One strange ticket may be another tab's, or a new one after a long sleep; two in a row mean that
  // nothing is kept.
  if (odd > 1) { blocked(); return; }
  if (!odd) set('ticket', id);
  if (render(a) === 'no') { over = true; return; }
  if (odd) return 1;
  const s = Number(a.refreshIntervalSeconds);
  return s > 0 ? Math.min(60, Math.max(1, s)) : 20;
};
const retryAfter = r => {
  const v = r.headers.get('Retry-After'), s = v && (+v >= 0 ? +v : (Date.parse(v) - Date.now()) / 1e3);
  return s > 0 ? Math.min(120, s) : 0;
};
const check = () => {
  if (busy || over) return;
  clearTimeout(timer);
  busy = true;
  asked = Date.now();
  const stop = new AbortController(), limit = setTimeout(() => stop.abort(), 3e4);
  let least = 0, foreign = false;
  fetch(waitURL, { headers: { Accept: 'application/json' }, credentials: 'same-origin', cache: 'no-store', signal: stop.signal })
    .then(r => { least = retryAfter(r); foreign = r.status < 500 && r.status !== 429; return r.json(); })
    .then(j => { const pause = hear(j.cfWaitingRoom); fails = 0; return pause; })
    .catch(() => {
      if (++fails > 1) note(texts.offline);
      // Somebody answers, but not the waiting room: it may be gone, and the site open.
      if (foreign && fails > 2) leave();
      return Math.max(1, Math.min(60, 2 ** fails) * (.5 + Math.random() / 2));
    })
    .then(pause => {
      busy = false;
      clearTimeout(limit);
      if (over) return;
      notBefore = fails || least > pause ? Date.now() + Math.max(pause, least) * 1e3 : 0;
      timer = setTimeout(check, Math.max(pause, least) * 1e3);
    });
};
// wake asks at once, but keeps to one question a second and to a pause that the server or errors
// call for.
const wake = () => { if (!doc.hidden && Date.now() >= Math.max(asked + 1e3, notBefore)) check(); };

const start = () => {
  // The pending refresh of the Refresh header ends here: no reload while this script runs.
  window.stop();
  if (navigator.cookieEnabled === false) { blocked(); return; }
  const state = body.dataset.state;
  if (state === 'no') return;
  if (state === 'turn') enter(); else check();
  doc.addEventListener('visibilitychange', wake);
  window.addEventListener('pageshow', e => {
    if (!e.persisted || body.dataset.state === 'no') return;
    over = false;
    check();
  });
};
if (doc.readyState === 'complete') start(); else window.addEventListener('load', () => setTimeout(start));
})();
