// @ts-nocheck: it must be free to break what types promise.
// Replaces everything in a realm that an observer could look up later. What a page wants for itself it takes before.
(() => {
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { ownKeys } = Reflect;
  const lie = function lie() {};
  const kept = ['constructor', 'play', 'start', 'pushState', 'addEventListener'];
  const interfaces = [
    'EventTarget',
    'Event',
    'UserActivation',
    'HTMLMediaElement',
    'HTMLVideoElement',
    'HTMLAudioElement',
    'AudioNode',
    'AudioParam',
    'GainNode',
    'AudioContext',
    'BaseAudioContext',
    'AudioDestinationNode',
    'AudioScheduledSourceNode',
    'AudioBufferSourceNode',
    'History',
    'Navigation',
    'NavigationHistoryEntry',
    'NavigationCurrentEntryChangeEvent',
    'Screen',
    'Navigator',
    'Document',
    'Element',
    'HTMLElement',
    'Performance',
  ];
  const builtIns = [
    'Array',
    'Function',
    'String',
    'Number',
    'Boolean',
    'Symbol',
    'Map',
    'WeakMap',
    'Set',
    'Promise',
    'RegExp',
    'Error',
    'Date',
  ];
  const spaces = ['JSON', 'Reflect', 'Math', 'console'];
  const globals = [
    ...interfaces,
    ...spaces,
    'Proxy',
    'navigator',
    'navigation',
    'history',
    'performance',
    'setTimeout',
    'setInterval',
    'queueMicrotask',
    'requestAnimationFrame',
    'scheduler',
    'screen',
    'devicePixelRatio',
  ];
  const polluted = ['get', 'set', 'has', 'apply', 'value', 'delay', 'signal', 'writable', 'toJSON', 'then', '0', '1'];

  const owners = [...interfaces, ...builtIns].flatMap((name) => (window[name] ? [window[name].prototype] : []));
  owners.push(getPrototypeOf([][Symbol.iterator]()), ...spaces.map((name) => window[name]));
  const members = owners.flatMap((owner) =>
    ownKeys(owner).flatMap((key) => (kept.includes(key) ? [] : [{ owner, key }])),
  );
  for (const key of ['defineProperty', 'getOwnPropertyDescriptor', 'create', 'assign', 'entries', 'freeze'])
    members.push({ owner: Object, key });
  for (const name of interfaces)
    if (window[name]) defineProperty(window[name], Symbol.hasInstance, { value: () => false });
  for (const key of globals) if (key in window) members.push({ owner: window, key });
  // Timers that wait are called off.
  for (let id = 1; id < 1_000; id++) clearTimeout(id);

  // From here on nothing but the language itself is used.
  for (let i = 0, count = members.length; i < count; i++) {
    const { owner, key } = members[i];
    const property = getOwnPropertyDescriptor(owner, key);
    if (property && !property.configurable && !property.writable) continue;
    if (property?.configurable === false) owner[key] = lie;
    else if (property && 'value' in property)
      defineProperty(owner, key, { __proto__: null, value: class {}, writable: true, configurable: true });
    else defineProperty(owner, key, { __proto__: null, get: lie, set: lie, configurable: true });
  }
  for (let i = 0, count = polluted.length; i < count; i++)
    defineProperty(Object.prototype, polluted[i], { __proto__: null, get: lie, set: lie, configurable: true });
})();
