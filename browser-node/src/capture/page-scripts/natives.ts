type Before = (self: unknown, argument: unknown, second: unknown, third: unknown) => void;
type After = (result: unknown, argument: unknown, second: unknown) => void;

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
  /**
   * Calls `before` first whenever `owner[name]` is called, or set where it is an attribute, or read where it is one that cannot be set, and `after` with the result. A `before` without parameters
   * leaves no trace on the stack. Neither may read anything of an object: its accessors and conversions are code of the page.
   */
  precede(owner: object, name: string, before: Before, after?: After): void;
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
  const { captureStackTrace } = Error;
  const isObject = (value: unknown) => typeof value === 'function' || (typeof value === 'object' && value !== null);
  const runsCode = (args: unknown[]) => {
    for (let index = 0; index < args.length; index++) if (isObject(args[index])) return true;
    return false;
  };
  const proxied = (native: (...args: unknown[]) => unknown, before: Before, after?: After) => {
    const handler = Object.create(null);
    const watched = (target: typeof native, self: unknown, args: unknown[]) => {
      const first = args.length > 0 ? args[0] : undefined;
      const second = args.length > 1 ? args[1] : undefined;
      before(self, first, second, args.length > 2 ? args[2] : undefined);
      try {
        const result = apply(target, self, args);
        if (after) after(result, first, second);
        return result;
      } catch (error) {
        // The native's own error, unless an argument may have thrown it: its stack is to have no line of ours.
        if (isObject(error) && !runsCode(args)) captureStackTrace(error as object, watched);
        throw error;
      }
    };
    // Where nothing of the call is needed, the engine looks up a trap, which is none, and calls the native with nothing of ours on the stack.
    const needsCall = before.length > 0 || after !== undefined;
    const noTrap = () => {
      (before as () => unknown)();
      return undefined;
    };
    const trap: PropertyDescriptor = needsCall ? { value: watched } : { get: noTrap };
    const proxy = new Proxy(native, Object.defineProperty(handler, 'apply', withoutPrototype(trap)));
    original.keep(proxy, native);
    return proxy;
  };
  const asText = Function.prototype.toString;
  const slice = call.bind(String.prototype.slice) as (text: string, from: number, to: number) => string;
  const indexOf = call.bind(String.prototype.indexOf) as (text: string, part: string, from: number) => number;
  /** The offset after the first `count` lines of a stack; each of them is one of several. */
  const lineEnd = (stack: string, count: number): number => {
    let end = -1;
    for (let line = 0; line < count; line++) end = indexOf(stack, '\n', end + 1);
    return end < 0 ? stack.length : end;
  };
  const printing = new Proxy(
    asText,
    withoutPrototype({
      apply: function print(target: typeof asText, self: unknown, args: []) {
        try {
          return apply(target, (typeof self === 'function' && original.of(self)) || self, args);
        } catch (error) {
          // Its message and the native's own line, then those of the page.
          const { stack = '' } = error as Error;
          captureStackTrace(error as object, print);
          const { stack: ofPage = '' } = error as Error;
          const areTexts = typeof stack === 'string' && typeof ofPage === 'string';
          if (areTexts)
            (error as Error).stack =
              slice(stack, 0, lineEnd(stack, 2)) + slice(ofPage, lineEnd(ofPage, 1), ofPage.length);
          throw error;
        }
      },
    }),
  );
  original.keep(printing, asText);
  Object.defineProperty(Function.prototype, 'toString', { value: printing, writable: true, configurable: true });
  return {
    getter,
    secret,
    precede(owner, name, before, after) {
      const property = Object.getOwnPropertyDescriptor(owner, name);
      if (property?.value)
        Object.defineProperty(owner, name, { ...property, value: proxied(property.value, before, after) });
      else if (property?.set)
        Object.defineProperty(owner, name, { ...property, set: proxied(property.set, before, after) });
      else if (property?.get)
        Object.defineProperty(owner, name, { ...property, get: proxied(property.get as () => unknown, before, after) });
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
