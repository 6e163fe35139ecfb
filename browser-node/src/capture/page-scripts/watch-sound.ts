/**
 * Runs in every document before its own scripts: tells of attempts to play sound that nobody asked for. What it tells goes to the
 * console, which no page can read, marked with a token: `<token>|<id>|<via>|<muted>|<volume>|<started>|<has audio>`; a later line with
 * the same id replaces an earlier one. Attempts count although the browser blocks them.
 *
 * A page should not notice: functions are replaced by proxies that say of themselves what the originals say, and all that is used
 * later on is taken now, before a page can redefine it. Hence no destructuring, spreading or `for of`: they ask the array's iterator.
 */
export function watchSound({ token }: { token: string }): void {
  const say = console.debug.bind(console);
  const { apply } = Reflect;
  const later = setTimeout.bind(window);
  const listen = EventTarget.prototype.addEventListener;
  const call = Function.prototype.call;
  /** A getter as a function of the object. */
  const getter = <T>(owner: object, name: string): ((self: object) => T) =>
    call.bind(Object.getOwnPropertyDescriptor(owner, name)?.get ?? (() => undefined));
  /** A private property: nothing of it can be seen on the object. */
  const secret = <T>() => {
    const map = new WeakMap<object, T>();
    return {
      of: call.bind(map.get, map) as (self: object) => T | undefined,
      keep: call.bind(map.set, map) as (self: object, value: T) => unknown,
    };
  };
  const media = HTMLMediaElement.prototype;
  const isMuted = getter<boolean>(media, 'muted');
  const volumeOf = getter<number>(media, 'volume');
  const isPaused = getter<boolean>(media, 'paused');
  const isAutoplay = getter<boolean>(media, 'autoplay');
  const lengthOf = getter<number>(media, 'duration');
  const decodedOf = getter<number>(media, 'webkitAudioDecodedByteCount');
  const widthOf = getter<number>(HTMLVideoElement.prototype, 'videoWidth');
  const targetOf = getter<EventTarget | null>(Event.prototype, 'target');
  const isActive = getter<boolean>(UserActivation.prototype, 'isActive');
  const activation = navigator.userActivation;
  const document_ = Math.random().toString(36).slice(2);
  let last = 0;
  const nextId = () => `${document_}.${++last}`;
  const tell = (id: string, via: string, muted: boolean, volume: number, started: boolean, audio: boolean) =>
    say(`${token}|${id}|${via}|${muted}|${volume}|${started}|${audio}`);

  type Native = (...args: unknown[]) => unknown;
  type Before = (self: unknown, argument: unknown) => void;
  const original = secret<object>();
  const proxied = (native: Native, before: Before): Native => {
    const proxy = new Proxy(native, {
      apply(target, self, args) {
        before(self, args[0]);
        return apply(target, self, args);
      },
    });
    original.keep(proxy, native);
    return proxy;
  };
  /** Calls `before` first whenever `owner[name]` is called, or set where it is an attribute. */
  const precede = (owner: object, name: string, before: Before) => {
    const property = Object.getOwnPropertyDescriptor(owner, name);
    if (property?.value) Object.defineProperty(owner, name, { ...property, value: proxied(property.value, before) });
    else if (property?.set) Object.defineProperty(owner, name, { ...property, set: proxied(property.set, before) });
  };

  const known = secret<{ id: string; via: string }>();
  /** A film has sound when some was decoded; what has a length and no picture is sound. */
  const hasAudio = (element: HTMLMediaElement) =>
    decodedOf(element) > 0 || (lengthOf(element) > 0 && !(element instanceof HTMLVideoElement && widthOf(element) > 0));
  const report = (element: HTMLMediaElement) => {
    const attempt = known.of(element);
    if (!attempt) return;
    tell(attempt.id, attempt.via, isMuted(element), volumeOf(element), !isPaused(element), hasAudio(element));
  };
  const attempted = (self: unknown, via: string) => {
    if (!(self instanceof HTMLMediaElement) || isActive(activation)) return;
    if (!known.of(self)) {
      known.keep(self, { id: nextId(), via });
      // What it holds is known when it has loaded; whether it started, and how loud, soon after.
      const again = () => later(() => report(self), 60);
      apply(listen, self, ['loadeddata', again]);
      apply(listen, self, ['playing', again]);
      apply(listen, self, ['volumechange', again]);
    }
    report(self);
  };
  precede(media, 'play', (self) => attempted(self, 'play'));
  precede(media, 'autoplay', (self, on) => on && attempted(self, 'autoplay'));
  // Elements of the document's own HTML.
  const started = (event: Event) => {
    const element = targetOf(event);
    if (element instanceof HTMLMediaElement && isAutoplay(element)) attempted(element, 'autoplay');
  };
  apply(listen, document, ['loadstart', started, true]);

  type Sinks = { sink: unknown; next: Sinks | undefined };
  const sinks = secret<Sinks>();
  const gainOf = getter<AudioParam>(GainNode.prototype, 'gain');
  const amountOf = getter<number>(AudioParam.prototype, 'value');
  const contextOf = getter<BaseAudioContext>(AudioNode.prototype, 'context');
  const stateOf = getter<string>(BaseAudioContext.prototype, 'state');
  /** How loud a node reaches the speakers, 0 = not at all. */
  const loudness = (node: unknown, depth = 0): number => {
    if (node instanceof AudioDestinationNode) return contextOf(node) instanceof AudioContext ? 1 : 0;
    if (!(node instanceof AudioNode) || depth > 20) return 0;
    const gain = node instanceof GainNode ? amountOf(gainOf(node)) : 1;
    let loudest = 0;
    for (let at = sinks.of(node); at; at = at.next) {
      const reached = loudness(at.sink, depth + 1) * (gain < 0 ? -gain : gain);
      if (reached > loudest) loudest = reached;
    }
    return loudest;
  };
  precede(AudioNode.prototype, 'connect', (self, sink) => {
    if (self instanceof AudioNode) sinks.keep(self, { sink, next: sinks.of(self) });
  });
  const starts = (self: unknown) => {
    if (!(self instanceof AudioNode) || isActive(activation)) return;
    const id = nextId();
    later(() => {
      const volume = loudness(self);
      tell(id, 'audio_context', false, volume, stateOf(contextOf(self)) === 'running', volume > 0);
    }, 60);
  };
  precede(AudioScheduledSourceNode.prototype, 'start', starts);
  precede(AudioBufferSourceNode.prototype, 'start', starts);

  const asText = Function.prototype.toString;
  const told = new Proxy(asText, {
    apply: (target, self, args) => apply(target, (typeof self === 'function' && original.of(self)) || self, args),
  });
  original.keep(told, asText);
  Object.defineProperty(Function.prototype, 'toString', { value: told, writable: true, configurable: true });
}
