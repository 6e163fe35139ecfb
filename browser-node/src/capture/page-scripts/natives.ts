type Before = (self: unknown, argument: unknown, second: unknown) => void;

/**
 * References that page scripts use while the page runs, taken before it can replace them. Page scripts look up nothing by name by then, and
 * use no iterators, no `instanceof` (it calls `Symbol.hasInstance`) and no object literals that the engine reads (they inherit from
 * `Object.prototype`).
 */
export type Natives = {
  /** A getter as a function of the object; it returns undefined for objects of another kind, so it also distinguishes kinds. */
  getter<T>(owner: object, name: string): (self: unknown) => T | undefined;
  /** A private property, invisible on the object. */
  secret<T>(): { of(self: unknown): T | undefined; keep(self: object, value: T): void };
  /** Calls `before` first whenever `owner[name]` is called, or set where it is an attribute. */
  precede(owner: object, name: string, before: Before): void;
  listen(target: EventTarget, event: string, listener: (event: Event) => void, capture: boolean): void;
  /** The beginning of a script's or function's source; '' for anything else. */
  sourceOf(script: unknown): string;
  /** Calls `sample` when the running script has ended, soon after, and then for some seconds until it returns true. */
  watch(sample: () => boolean): void;
  /** Whether the visitor has just clicked or typed. What a page does then is not done without a user gesture. */
  hasUserGesture(): boolean;
};

const SCHEDULE = { soonMs: 60, everyMs: 250, times: 40 };

/**
 * Runs in the page, before its own scripts. Functions are replaced by proxies that print like the originals, so that a page that prints them
 * does not notice.
 */
function takeNatives(schedule: { soonMs: number; everyMs: number; times: number }): Natives {
  const SOURCE_LENGTH_MAX = 20_000;
  const { soonMs, everyMs, times } = schedule;
  const { apply } = Reflect;
  const call = Function.prototype.call;
  const microtask = queueMicrotask.bind(window);
  const addListener = EventTarget.prototype.addEventListener;
  const activation = navigator.userActivation;
  const withoutPrototype = <T extends object>(properties: T): T => Object.assign(Object.create(null), properties);
  // A page can clear every timer by its number; tasks of the scheduler have none.
  const { scheduler } = window as { scheduler?: { postTask(work: () => void, options: object): void } };
  const postTask = scheduler?.postTask.bind(scheduler);
  const timeout = setTimeout.bind(window);
  const [soon, every] = [withoutPrototype({ delay: soonMs }), withoutPrototype({ delay: everyMs })];
  const later = (work: () => void, options: { delay: number }) =>
    postTask ? postTask(work, options) : timeout(work, options.delay);
  const getter: Natives['getter'] = <T>(owner: object, name: string) => {
    const read: (self: unknown) => T = call.bind(
      Object.getOwnPropertyDescriptor(owner, name)?.get ?? (() => undefined),
    ) as never;
    return (self: unknown) => {
      try {
        return read(self);
      } catch {
        return undefined;
      }
    };
  };
  const isActive = getter<boolean>(UserActivation.prototype, 'isActive');
  const secret: Natives['secret'] = () => {
    const map = new WeakMap();
    return { of: call.bind(map.get, map) as never, keep: call.bind(map.set, map) };
  };
  const original = secret<object>();
  const proxied = (native: (...args: unknown[]) => unknown, before: Before) => {
    const proxy = new Proxy(
      native,
      withoutPrototype({
        apply(target: typeof native, self: unknown, args: unknown[]) {
          before(self, args.length > 0 ? args[0] : undefined, args.length > 1 ? args[1] : undefined);
          return apply(target, self, args);
        },
      }),
    );
    original.keep(proxy, native);
    return proxy;
  };
  const asText = Function.prototype.toString;
  const slice = call.bind(String.prototype.slice) as (text: string, from: number, to: number) => string;
  const printing = new Proxy(
    asText,
    withoutPrototype({
      apply: (target: typeof asText, self: unknown, args: []) =>
        apply(target, (typeof self === 'function' && original.of(self)) || self, args),
    }),
  );
  original.keep(printing, asText);
  Object.defineProperty(Function.prototype, 'toString', { value: printing, writable: true, configurable: true });
  return {
    getter,
    secret,
    precede(owner, name, before) {
      const property = Object.getOwnPropertyDescriptor(owner, name);
      if (property?.value) Object.defineProperty(owner, name, { ...property, value: proxied(property.value, before) });
      else if (property?.set) Object.defineProperty(owner, name, { ...property, set: proxied(property.set, before) });
    },
    sourceOf(script) {
      const source = typeof script === 'function' ? apply(asText, original.of(script) ?? script, []) : script;
      return typeof source === 'string' ? slice(source, 0, SOURCE_LENGTH_MAX) : '';
    },
    listen: (target, event, listener, capture) => apply(addListener, target, [event, listener, capture]),
    watch(sample) {
      let count = 0;
      const again = () => {
        if (!sample() && count++ < times) later(again, every);
      };
      microtask(() => {
        if (!sample()) later(again, soon);
      });
    },
    hasUserGesture: () => isActive(activation) === true,
  };
}

/** The source of {@link takeNatives}, called. */
export const nativesScript = `(${takeNatives})(${JSON.stringify(SCHEDULE)})`;
