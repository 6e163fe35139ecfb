import type { Channel } from './hostile-target.ts';

/** Pages that try to stop a node, spoil a neighbour's scan or hide, by the channel through which they do it, and their names: the body of each. */
export const HOSTILE_PAGES: Partial<Record<Channel, Record<string, string>>> = {
  console: {
    'one console line of 552 MB': script(`console.log('\\x01'.repeat(9.2e7))`),
    'console lines of 20 MB': script(`for (let i = 0; i < 200; i++) console.log('x'.repeat(2e7))`),
    'debug lines of 20 MB': script(`for (let i = 0; i < 200; i++) console.debug('x'.repeat(2e7))`),
    'errors of 20 MB': script(`for (let i = 0; i < 200; i++) setTimeout(() => { throw new Error('x'.repeat(2e7)) })`),
    'console lines without end': script(
      `const f = () => { for (let i = 0; i < 5000; i++) console.log(i); setTimeout(f) }; f()`,
    ),
    'a proxy in the console': script(
      `console.log(new Proxy({}, { get: () => { while (true); }, ownKeys: () => { while (true); } }))`,
    ),
    'debug lines of a worker without end': inWorker('for (;;) console.debug(1)'),
    'errors with source URLs of 1 MB': script(
      `const source = 'const f = (n) => n ? f(n - 1) : setTimeout(() => { throw new Error(n) }); f(150)\\n//# sourceURL=http://x.example/' + 'x'.repeat(1e6); for (let n = 0; n < 12; n++) eval(source)`,
    ),
  },
  'network events': {
    'addresses of 2 MB': script(`for (let i = 0; i < 300; i++) fetch('/' + 'a'.repeat(2e6) + i).catch(() => 0)`),
    'requests in one endless task': script(`for (;;) fetch('/?' + Math.random()).catch(() => 0)`),
    'requests of 150 frames without end': script(
      `const code = 'const f = () => { for (let i = 0; i < 50; i++) fetch("/?" + Math.random()).catch(() => 0); setTimeout(f) }; f()';
     for (let i = 0; i < 150; i++) { const f = document.createElement('iframe'); f.srcdoc = '<script>' + code + '</' + 'script>'; document.body.append(f) }`,
    ),
    'requests from stacks of 150 frames without end': script(
      `const f = (n) => n ? f(n - 1) : fetch('/s?' + Math.random()).catch(() => 0); setInterval(() => { for (let n = 0; n < 100; n++) f(150) }, 10)`,
    ),
    'requests without end': script(
      `const f = () => { for (let i = 0; i < 200; i++) fetch('/r?' + Math.random()).catch(() => 0); setTimeout(f, 20) }; f()`,
    ),
    'host names of 14 KB': script(
      `for (let i = 0; i < 5000; i++) fetch('http://' + 'a.'.repeat(7000) + i + '.hostile.example/').catch(() => 0)`,
    ),
    'sockets without end': script(
      `setInterval(() => { for (let i = 0; i < 50; i++) new WebSocket('ws://' + location.host + '/' + Math.random()) }, 50)`,
    ),
    'peer connections without end': script(
      `setInterval(() => { const a = new RTCPeerConnection(), b = new RTCPeerConnection(); a.onicecandidate = (e) => e.candidate && b.addIceCandidate(e.candidate); a.createDataChannel('x'); a.createOffer().then((o) => { a.setLocalDescription(o); b.setRemoteDescription(o) }) }, 5)`,
    ),
    'data: addresses of 60 MB': script(
      `const x = 'x'.repeat(6e7); const f = document.createElement('iframe'); f.src = 'data:text/html,' + x; document.body.append(f); new Image().src = 'data:image/png,' + x; fetch('data:,' + x).catch(() => 0)`,
    ),
    'addresses of this machine': script(
      `for (const url of ['http://127.0.0.1:8081/', 'http://[::1]/', 'http://169.254.169.254/latest/meta-data/', 'http://10.0.0.1/', 'http://168.63.129.16/']) { fetch(url, { mode: 'no-cors' }).catch(() => 0); new WebSocket(url.replace('http', 'ws')) }`,
    ),
    'files and inner pages': script(
      `for (const url of ['file:///etc/passwd', 'chrome://version', 'devtools://devtools/x', 'view-source:file:///etc/passwd']) { open(url); const f = document.createElement('iframe'); f.src = url; document.body.append(f) }`,
    ),
    'an answer without end': script(
      `for (let i = 0; i < 6; i++) fetch('/endless?' + i).then((answer) => answer.arrayBuffer())`,
    ),
    'a picture without end':
      '<img src="/endless"><link rel="stylesheet" href="/endless?css"><script src="/endless?js"></script>',
    'downloads without end': script(
      `setInterval(() => { const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'.repeat(1e7)])); a.download = 'setup.exe'; a.click() }, 50)`,
    ),
    'requests by scripts with source URLs of 1 MB': script(
      `const source = 'const f = (n) => n ? f(n - 1) : fetch("/s?" + Math.random()).catch(() => 0); f(100)\\n//# sourceURL=http://x.example/' + 'x'.repeat(1e6); for (let n = 0; n < 12; n++) eval(source)`,
    ),
  },
  headers: {
    'request headers of 30 MB': script(
      `const headers = { 'x-large': 'x'.repeat(3e7) }; for (let i = 0; i < 40; i++) fetch('/?' + i, { headers }).catch(() => 0)`,
    ),
    'request headers of 30 MB by a worker': inWorker(
      `const headers = { 'x-large': 'x'.repeat(3e7) }; for (let i = 0; i < 40; i++) fetch(self.origin + '/?' + i, { headers }).catch(() => 0)`,
    ),
    'cookies without end': script(
      `let i = 0; const f = () => { for (let n = 0; n < 200; n++) document.cookie = 'c' + (i++ % 300) + '=' + 'x'.repeat(3900); setTimeout(f) }; f()`,
    ),
    'cookies and headers of 200 KB': script(
      `for (let i = 0; i < 200; i++) document.cookie = 'c' + i + '=' + 'x'.repeat(4000); for (let i = 0; i < 50; i++) fetch('/headers?' + i)`,
    ),
    'answers with thousands of cookies': script(`for (let i = 0; i < 200; i++) fetch('/set-cookies?' + i)`),
    'redirects to addresses of 500 KB': script(
      `for (let i = 0; i < 200; i++) fetch('/far?' + i, { mode: 'no-cors' }).catch(() => 0)`,
    ),
  },
  frames: {
    'itself in frames': script(
      `const f = document.createElement('iframe'); f.src = location.href + '?' + Math.random(); document.body.append(f)`,
    ),
    'a thousand frames': script(
      `for (let i = 0; i < 1000; i++) { const f = document.createElement('iframe'); f.src = 'http://f' + i + '.hostile.example/plain'; document.body.append(f) }`,
    ),
    '100,000 frames': script(
      `for (let i = 0; i < 100_000; i++) document.body.append(document.createElement('iframe'))`,
    ),
    '100,000 frames of other sites': script(
      `for (let i = 0; i < 100_000; i++) { const f = document.createElement('iframe'); f.src = 'http://f' + i + '.hostile-frames.example/plain'; document.body.append(f) }`,
    ),
    'a thousand frames of a thousand sites': script(framesOfSites(1_000, '/plain')),
    'ninety frames of ninety sites, 40 MB each': script(framesOfSites(90, '/40-mb')),
    'twenty frames of twenty sites that grow together': script(
      `fetch('/never'); setInterval(() => fetch('/?' + Math.random()), 300); ${framesOfSites(20, '/grows')}`,
    ),
    'twenty-four frames of as many sites, each nearly always busy': script(framesOfSites(24, '/busy')),
    'frames that go from site to site without end': script(
      `let i = 0; for (let n = 0; n < 20; n++) { const f = document.body.appendChild(document.createElement('iframe')); const go = () => { f.src = 'http://f.site' + i++ + '.example/plain' }; f.onload = go; go() }`,
    ),
    'frames that go to and fro between 24 sites without end': script(
      `let i = 0; for (let n = 0; n < 20; n++) { const f = document.body.appendChild(document.createElement('iframe')); const go = () => { f.src = 'http://f.site' + (i++ % 24) + '.example/plain' }; f.onload = go; go() }`,
    ),
    'ninety-five sandboxed frames of as many hosts of a site': script(
      `for (let i = 0; i < 95; i++) { const f = document.createElement('iframe'); f.sandbox = 'allow-scripts'; f.src = 'http://f' + i + '.hostile-frames.example/plain'; document.body.append(f) }`,
    ),
    'messages between frames without end': `<iframe srcdoc="<script>onmessage = (e) => e.source.postMessage('x'.repeat(1e5), '*')</script>"></iframe>${script(
      `onmessage = (e) => e.source.postMessage(e.data, '*'); onload = () => { for (let i = 0; i < 50; i++) frames[0].postMessage('x', '*') }`,
    )}`,
  },
  workers: {
    'twenty busy workers': script(
      `for (let i = 0; i < 20; i++) new Worker(URL.createObjectURL(new Blob(['while(true);'])))`,
    ),
    'workers without end': script(
      `const u = URL.createObjectURL(new Blob(['setInterval(() => postMessage(1), 100)'])); setInterval(() => { for (let i = 0; i < 20; i++) new Worker(u) }, 10)`,
    ),
    'workers that start workers': script(
      `const s = 'onmessage = ({ data }) => { for (let i = 0; i < 2; i++) new Worker(URL.createObjectURL(new Blob([data]))).postMessage(data) }'; new Worker(URL.createObjectURL(new Blob([s]))).postMessage(s)`,
    ),
    'eight busy workers in each of eleven frames of as many sites': script(framesOfSites(11, '/busy-workers')),
    'eight offline audio graphs in each of eleven frames of as many sites': script(framesOfSites(11, '/audio-graphs')),
    'ninety workers that request without end': inWorkers(
      90,
      `let i = 0; setInterval(() => { for (let n = 0; n < 20 && i < 9000; n++) fetch('data:,' + i++).catch(() => 0) }, 10)`,
    ),
    'waiting on shared memory': script(
      `const m = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer; const u = URL.createObjectURL(new Blob(['onmessage = ({ data }) => { const a = new Int32Array(data); for (;;) Atomics.add(a, 0, 1) }'])); for (let i = 0; i < 8; i++) new Worker(u).postMessage(m)`,
    ),
    'a service worker that never ends': script(`navigator.serviceWorker.register('/worker.js').catch(() => 0)`),
    'a service worker that reloads its page': script(
      `navigator.serviceWorker.register('/reload.js').then(() => setTimeout(() => location.reload(), 200)).catch(() => 0)`,
    ),
    'ninety busy workers': script(
      `for (let i = 0; i < 90; i++) new Worker(URL.createObjectURL(new Blob(['for (;;);'])))`,
    ),
  },
  'browser process': {
    'locks without end': script(
      `setInterval(() => { for (let n = 0; n < 200; n++) navigator.locks.request('l' + Math.random(), () => new Promise(() => 0)) }, 1)`,
    ),
    'databases without end': script(
      `let i = 0; setInterval(() => { for (let n = 0; n < 100; n++) indexedDB.open('d' + i++).onupgradeneeded = ({ target }) => target.result.createObjectStore('s') }, 1)`,
    ),
    'private files without end': script(
      `navigator.storage.getDirectory().then((root) => { let i = 0; setInterval(() => { for (let n = 0; n < 100; n++) root.getFileHandle('f' + i++, { create: true }) }, 1) })`,
    ),
    'contents of a blob of 2 MB, 9,900 times, that nobody reads': script(
      `const u = URL.createObjectURL(new Blob([new Uint8Array(2e6)])); globalThis.held = []; for (let i = 0; i < 9900; i++) fetch(u).then((response) => held.push(response))`,
    ),
    'devices and permissions without end': script(
      `setInterval(() => { for (let n = 0; n < 50; n++) { navigator.mediaDevices.enumerateDevices(); navigator.permissions.query({ name: 'geolocation' }); new BroadcastChannel('c' + Math.random()) } }, 1)`,
    ),
  },
  titles: {
    'a title of 50 MB': script(`document.title = 't'.repeat(5e7)`),
    'titles without end': script(
      `let i = 0; const f = () => { for (let n = 0; n < 500; n++) document.title = 'x'.repeat(1e5) + i++; setTimeout(f) }; f()`,
    ),
    'titles of twenty windows without end': script(
      `for (let i = 0; i < 20; i++) open('about:blank')?.document.write('<script>let i = 0; setInterval(() => { document.title = "x".repeat(1e6) + i++ }, 1)</' + 'script>')`,
    ),
  },
  bindings: {
    'history entries without end': script(
      `setInterval(() => { for (let i = 0; i < 100; i++) history.pushState(i, '', '?' + i) }, 1)`,
    ),
    'full screens and pointers': script(
      `setInterval(() => { document.documentElement.requestFullscreen?.().catch(() => 0); document.body.requestPointerLock?.(); navigator.vibrate?.(1000); Notification?.requestPermission?.(); navigator.mediaDevices?.getUserMedia({ audio: true }).catch(() => 0) }, 1)`,
    ),
    'speech and sounds without end': script(
      `setInterval(() => { speechSynthesis?.speak(new SpeechSynthesisUtterance('x'.repeat(1e4))); const c = new AudioContext(); const o = c.createOscillator(); o.connect(c.destination); o.start() }, 5)`,
    ),
    'timers and traits without end': script(
      `const f = () => { for (let i = 0; i < 500; i++) { setTimeout(() => 0, 2000 + i); navigator.vibrate?.(1); document.fonts.check('9px f' + Math.random()); document.createElement('canvas').toDataURL() } setTimeout(f) }; f()`,
    ),
    'texts on a canvas without end': script(
      `const c = document.body.appendChild(document.createElement('canvas')).getContext('2d'); let i = 0; const f = () => { for (let n = 0; n < 1000; n++) c.fillText('x'.repeat(1e4) + i, i++ % 300, 20); setTimeout(f) }; f()`,
    ),
  },
  'dialogs and tabs': {
    'alerts in a loop': script('while (true) alert(1)'),
    'prompts and confirms in a loop': script('while (true) { confirm(1); prompt(2) }'),
    'a question before it is left': script(`onbeforeunload = (event) => { event.preventDefault(); return 'stay' }`),
    'prints without end': script(
      `setInterval(() => { print(); navigator.share?.({ url: location.href }).catch(() => 0) }, 1)`,
    ),
    'tabs without end': script(`setInterval(() => open('/tab?' + Math.random()), 10)`),
    'twenty windows that are sent from site to site without end': script(
      `let i = 0; const windows = []; for (let n = 0; n < 20; n++) windows.push(open('about:blank')); setInterval(() => { for (const one of windows) try { one.location = 'http://p.site' + i++ + '.example/plain' } catch {} }, 500)`,
    ),
    'a tab that opens itself': script(`open(location.href)`),
    'a page that closes itself': script('close(); setTimeout(close, 500)'),
    'messages to all tabs without end': script(
      `const c = new BroadcastChannel('x'); for (;;) c.postMessage('x'.repeat(1e5))`,
    ),
  },
  navigation: {
    'a spiral of redirects by script': script(`location = '?' + (Number(location.search.slice(1)) + 1)`),
    'a loop of refreshes': '<meta http-equiv="refresh" content="0">',
    'fragments without end': script(`setInterval(() => { location.hash = Math.random() }, 0)`),
    'a blob that navigates to blobs': script(
      `const html = '<script>onload = () => { location = URL.createObjectURL(new Blob([document.documentElement.outerHTML + Math.random()], { type: "text/html" })) }</' + 'script>'; location = URL.createObjectURL(new Blob([html], { type: 'text/html' }))`,
    ),
    'frames that navigate the tab without end': Array.from(
      { length: 20 },
      () => `<iframe srcdoc="<script>setInterval(() => { top.location = '?' + Math.random() }, 1)</script>"></iframe>`,
    ).join(''),
    'apps without end': script(
      `setInterval(() => { for (let i = 0; i < 100; i++) location = 'x-none:' + Math.random() }, 1)`,
    ),
  },
  'main thread': {
    'a busy main thread': script('while (true);'),
    'a busy main thread a second after load': script(`onload = () => setTimeout(() => { while (true); }, 1000)`),
    'an expression that backtracks': script(`/^(a+)+$/.test('a'.repeat(40) + 'b')`),
    'layout without end': script(
      `for (let i = 0; i < 3000; i++) document.body.append(document.createElement('p')); const f = () => { for (const p of document.querySelectorAll('p')) p.style.width = p.offsetWidth + 1 + 'px'; requestAnimationFrame(f) }; f()`,
    ),
    'styles that never end': `<style>${Array.from({ length: 40 }, (_, at) => `:root { --v${at + 1}: var(--v${at}) var(--v${at}) }`).join(' ')} :root { --v0: x } body::after { content: var(--v40) } div { filter: blur(90px) drop-shadow(0 0 90px red); position: absolute; inset: 0; animation: a 1s infinite } @keyframes a { to { transform: rotate(1turn) scale(9) } }</style>${'<div>'.repeat(300)}`,
    'replaced functions': script(
      `for (const name of Object.getOwnPropertyNames(window)) try { if (typeof window[name] === 'function') window[name] = class {} } catch {}
     Array.prototype.push = Array.prototype.map = Function.prototype.call = JSON.stringify = () => { throw 0 }`,
    ),
  },
  document: {
    'elements nested 20,000 deep': script(
      `let at = document.body; for (let i = 0; i < 20000; i++) at = at.appendChild(document.createElement('div'))`,
    ),
    'a page of 300,000 pixels': '<div style="height:300000px;background:linear-gradient(red,blue)">tall</div>',
    'no document element': script('document.documentElement.remove()'),
    'pictures of a billion laughs': `<svg>${Array.from({ length: 30 }, (_, at) => `<g id="g${at + 1}">${`<use href="#g${at}"/>`.repeat(10)}</g>`).join('')}<rect id="g0" width="9" height="9"/></svg>`,
  },
  memory: {
    'memory by arrays': script('const a = []; while (true) a.push(new Array(1e6).fill(Math.random()))'),
    'memory by buffers': script('const a = []; while (true) a.push(new Uint8Array(1e8).fill(1))'),
    'memory by WebAssembly': script('const a = []; while (true) a.push(new WebAssembly.Memory({ initial: 30000 }))'),
    'memory by texts': script(`let s = 'x'; while (true) s += s + s.length`),
    'memory by blobs': script(
      `const a = []; const f = () => { a.push(new Blob([new Uint8Array(5e7)])); setTimeout(f) }; f()`,
    ),
    'memory by pictures': script(
      `const a = []; const f = () => { const c = new OffscreenCanvas(8000, 8000); c.getContext('2d').fillRect(0, 0, 8000, 8000); a.push(c.transferToImageBitmap()); setTimeout(f) }; f()`,
    ),
    'storage without end': script(
      `const open = indexedDB.open('x'); open.onupgradeneeded = () => open.result.createObjectStore('s');
     open.onsuccess = () => { const put = (i) => { const t = open.result.transaction('s', 'readwrite'); t.objectStore('s').put(new Uint8Array(2e7), i); t.oncomplete = () => put(i + 1) }; put(0) };
     caches.open('x').then(async (cache) => { for (let i = 0; ; i++) await cache.put('/' + i, new Response(new Uint8Array(2e7))) })`,
    ),
    'a canvas of a gigapixel': script(
      `const c = document.createElement('canvas'); c.width = c.height = 32000; c.getContext('2d').fillRect(0, 0, 32000, 32000); document.body.append(c)`,
    ),
  },
  media: {
    'a film without end':
      '<video src="/endless?film" autoplay muted></video><audio src="/endless?sound" autoplay></audio>',
    'two hundred films': Array.from(
      { length: 200 },
      (_, at) => `<video src="/endless?${at}" autoplay muted></video>`,
    ).join(''),
  },
};

function script(code: string): string {
  return `<script>${code}</script>`;
}

function inWorker(code: string): string {
  return inWorkers(1, code);
}

function inWorkers(count: number, code: string): string {
  return script(
    `for (let i = 0; i < ${count}; i++) new Worker(URL.createObjectURL(new Blob([${JSON.stringify(code)}])))`,
  );
}

/** Frames whose documents are of different sites, each of which gets a process. */
function framesOfSites(count: number, path: string): string {
  return `for (let i = 0; i < ${count}; i++) { const f = document.createElement('iframe'); f.src = 'http://f.site' + i + '.example${path}'; document.body.append(f) }`;
}
