import { type NativeFunctions, nativeFunctionsScript } from '../../browser/page-scripts/native-functions.ts';

type Before = (self: unknown, argument: unknown, second: unknown, third: unknown) => void;
type After = (result: unknown, argument: unknown, second: unknown) => void;

/**
 * References that page scripts use while the page runs, taken before it can replace them. Page scripts look up nothing
 * by name by then, and use no iterators, no `instanceof` (it calls `Symbol.hasInstance`) and no object literals that
 * the engine reads (they inherit from `Object.prototype`).
 */
export type Natives = {
  /**
   * A getter as a function of the object; it returns undefined for objects of another kind, so it also distinguishes
   * kinds.
   */
  getter<T>(owner: object, name: string): (self: unknown) => T | undefined;
  /** A private property, invisible on the object. */
  secret<T>(): { of(self: unknown): T | undefined; keep(self: object, value: T): void };
  /**
   * Calls `before` first whenever `owner[name]` is called, or set where it is an attribute, or read where it is one
   * that cannot be set, and `after` with the result. Before a method, a `before` without parameters leaves no trace on
   * the stack that code in its arguments sees. Neither may read anything of an object: its accessors and conversions
   * are code of the page.
   */
  precede(owner: object, name: string, before: Before, after?: After): void;
  /** Makes `owner[name]` return what `answer` returns; called on another object, it does what it did. */
  answer(owner: object, name: string, answer: () => unknown): void;
  listen(target: EventTarget, event: string, listener: (event: Event) => void, capture: boolean): void;
  /** The value of an object's own property; undefined where that is an accessor, which is code of the page. */
  ownValue(object: object, name: PropertyKey): unknown;
  /** The beginning of a script's or function's source; '' for anything else. */
  sourceOf(script: unknown): string;
  /** Calls `sample` when the running script has ended, soon after, and then for some seconds until it returns true. */
  watch(sample: () => boolean): void;
  /** Whether the visitor has just clicked or typed. What a page does then is not done without a user gesture. */
  hasUserGesture(): boolean;
};

const SCHEDULE = { soonMs: 60, everyMs: 250, times: 40 };

/**
 * Runs in the page, before its own scripts. What a page would notice of functions that are replaced is described in
 * `browser/page-scripts/native-functions.ts`.
 */
function takeNatives(
  schedule: { soonMs: number; everyMs: number; times: number },
  { replace, printAs }: NativeFunctions,
): Natives {
  const [SOURCE_LENGTH_MAX, CHAIN_MAX] = [20_000, 100];
  const { soonMs, everyMs, times } = schedule;
  const { apply, setPrototypeOf: trySetPrototypeOf } = Reflect;
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
  const { setPrototypeOf, getPrototypeOf, getOwnPropertyDescriptor, hasOwn } = Object;
  const { captureStackTrace } = Error;
  /**
   * Whether `Reflect.setPrototypeOf` was called last, which returns false where `Object.setPrototypeOf` throws: a trap
   * does not know its caller.
   */
  let isReflect = false;
  /**
   * A function whose trap is looked up before each call, and is none: the engine calls the native with nothing of ours
   * on the stack.
   */
  const untraced = (native: (...args: unknown[]) => unknown, before: () => void) => {
    const noTrap = () => {
      before();
      return undefined;
    };
    // The engine finds no cycle in which a proxy is.
    const refuseCycle = (target: object, prototype: object | null) => {
      let at = prototype;
      for (let level = 0; at !== null && at !== proxy && level < CHAIN_MAX; level++) at = getPrototypeOf(at);
      const chain = at === proxy ? target : prototype;
      const mayThrow = !isReflect;
      isReflect = false;
      if (!mayThrow) return trySetPrototypeOf(target, chain);
      try {
        setPrototypeOf(target, chain);
      } catch (error) {
        captureStackTrace(error as object, refuseCycle);
        throw error;
      }
      return true;
    };
    const traps = {
      apply: withoutPrototype({ get: noTrap }),
      setPrototypeOf: withoutPrototype({ value: refuseCycle }),
    };
    const proxy: object = new Proxy(native, Object.defineProperties(Object.create(null), traps));
    printAs(proxy, native);
    return proxy;
  };
  const asText = Function.prototype.toString;
  const slice = call.bind(String.prototype.slice) as (text: string, from: number, to: number) => string;
  const natives: Natives = {
    getter,
    secret,
    precede(owner, name, before, after) {
      const property = getOwnPropertyDescriptor(owner, name);
      if (!property) return;
      const kind = hasOwn(property, 'value') ? 'value' : property.set ? 'set' : 'get';
      // Only the arguments of a method run code of the page.
      if (kind === 'value' && before.length === 0 && !after) {
        const preceded = untraced(property[kind], before as () => void);
        Object.defineProperty(owner, name, { ...property, [kind]: preceded });
      } else
        replace(owner, name, kind, (self, first, native, args) => {
          const second = args.length > 1 ? args[1] : undefined;
          before(self, first, second, args.length > 2 ? args[2] : undefined);
          const result = native(self);
          if (after) after(result, first, second);
          return result;
        });
    },
    answer(owner, name, answer) {
      replace(owner, name, 'value', (self, _, native) =>
        self === undefined || self === owner ? answer() : native(self),
      );
    },
    ownValue(object, name) {
      const property = getOwnPropertyDescriptor(object, name);
      // A page may define what a descriptor lacks.
      return property && hasOwn(property, 'value') ? property.value : undefined;
    },
    sourceOf(script) {
      const source = typeof script === 'function' ? apply(asText, script, []) : script;
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
  natives.precede(Reflect, 'setPrototypeOf', () => {
    isReflect = true;
  });
  natives.precede(Object, 'setPrototypeOf', () => {
    isReflect = false;
  });
  return natives;
}

/**
 * The source of {@link takeNatives}, called. `mark`: distinguishes our functions from those of pages, in all documents
 * of a context.
 */
export const nativesScript = (mark: string): string =>
  `(${takeNatives})(${JSON.stringify(SCHEDULE)}, ${nativeFunctionsScript(mark)})`;
