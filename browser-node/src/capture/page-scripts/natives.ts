type Before = (self: unknown, argument: unknown) => void;

/** What page scripts use later on, taken before a page can redefine it. Hence no destructuring or spreading there: they ask iterators. */
export type Natives = {
  /** A getter as a function of the object. */
  getter<T>(owner: object, name: string): (self: object) => T;
  /** A private property: nothing of it can be seen on the object. */
  secret<T>(): { of(self: object): T | undefined; keep(self: object, value: T): void };
  /** Calls `before` first whenever `owner[name]` is called, or set where it is an attribute. */
  precede(owner: object, name: string, before: Before): void;
  listen(target: EventTarget, event: string, listener: (event: Event) => void, capture: boolean): void;
  later(work: () => void): void;
  nextId(): string;
  /** Whether the visitor clicked or typed just now: what a page does then is not done by itself. */
  isUsers(): boolean;
};

const SOON_MS = 60;

/**
 * Runs in the page, before its own scripts. Functions are preceded by proxies that print as the originals do, so that a page does not
 * notice where it would look first.
 */
export function takeNatives(soonMs: number): Natives {
  const { apply } = Reflect;
  const call = Function.prototype.call;
  const timeout = setTimeout.bind(window);
  const addListener = EventTarget.prototype.addEventListener;
  const activation = navigator.userActivation;
  const mark = Math.random().toString(36).slice(2);
  let last = 0;
  const getter: Natives['getter'] = (owner, name) =>
    call.bind(Object.getOwnPropertyDescriptor(owner, name)?.get ?? (() => undefined));
  const isActive = getter<boolean>(UserActivation.prototype, 'isActive');
  const secret: Natives['secret'] = () => {
    const map = new WeakMap();
    return { of: call.bind(map.get, map), keep: call.bind(map.set, map) };
  };
  const original = secret<object>();
  const proxied = (native: (...args: unknown[]) => unknown, before: Before) => {
    const proxy = new Proxy(native, {
      apply(target, self, args) {
        before(self, args[0]);
        return apply(target, self, args);
      },
    });
    original.keep(proxy, native);
    return proxy;
  };
  const asText = Function.prototype.toString;
  const told = new Proxy(asText, {
    apply: (target, self, args) => apply(target, (typeof self === 'function' && original.of(self)) || self, args),
  });
  original.keep(told, asText);
  Object.defineProperty(Function.prototype, 'toString', { value: told, writable: true, configurable: true });
  return {
    getter,
    secret,
    precede(owner, name, before) {
      const property = Object.getOwnPropertyDescriptor(owner, name);
      if (property?.value) Object.defineProperty(owner, name, { ...property, value: proxied(property.value, before) });
      else if (property?.set) Object.defineProperty(owner, name, { ...property, set: proxied(property.set, before) });
    },
    listen: (target, event, listener, capture) => apply(addListener, target, [event, listener, capture]),
    later: (work) => timeout(work, soonMs),
    nextId: () => `${mark}.${++last}`,
    isUsers: () => isActive(activation),
  };
}

/** The source of {@link takeNatives}, called. */
export const nativesScript = `(${takeNatives})(${SOON_MS})`;
