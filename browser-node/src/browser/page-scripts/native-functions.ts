/** Placeholder in the sources of functions that print as native code; it is replaced by a random mark. */
const NATIVE_MARK = 'NATIVE_MARK';

/** A property's function: its value, which is a method, or its getter or setter. */
export type FunctionKind = 'value' | 'get' | 'set';

/**
 * What a function does that replaces a native one: it gets the object that it was called on, the first argument, the
 * original, which can be called on another object and with other arguments, and throws the browser's errors, and all
 * arguments.
 */
export type Answer = (
  self: unknown,
  argument: unknown,
  original: (self: unknown, args?: readonly unknown[]) => unknown,
  all: readonly unknown[],
) => unknown;

/** Replaces functions of the browser by functions that a page cannot distinguish from them. */
export type NativeFunctions = {
  /** Replaces a function of a property; one that does not exist is not added. */
  replace(owner: object, name: string, kind: FunctionKind, answer: Answer): void;
  /** Replaces a getter, or else a method. */
  wrap(owner: object, name: string, answer: Answer): void;
  /** Replaces a getter by one with a fixed value; it throws the original's error on other objects. */
  wrapGetter(owner: object, name: string, value: unknown): void;
  /** A function prints as another one in its own document. */
  printAs(printed: object, native: object): void;
};

/** The source of {@link nativeFunctions}, called with this mark. */
export const nativeFunctionsScript = (mark: string): string =>
  `(${String(nativeFunctions).replaceAll(NATIVE_MARK, mark)})('${mark}')`;

/**
 * Runs in pages, frames and workers before our other scripts. Functions that it replaces print as native code from then
 * on: `Function.prototype.toString` is one of them. The mark is the same in all documents of a context, so that a
 * frame's `toString` knows the functions of its parent and the other way round, and no page can guess it.
 *
 * The functions are methods: as native ones they have no `prototype`, cannot be constructed, and refuse a wrong `this`
 * with the browser's own error, whose stack does not show them.
 */
function nativeFunctions(mark: string): NativeFunctions {
  const { apply, getOwnPropertyDescriptor, defineProperty } = Reflect;
  const { call } = Function.prototype;
  const { hasOwn } = Object;
  const NativeError = Error;
  const { captureStackTrace } = NativeError;
  const typeErrors = TypeError.prototype;
  type Method = (...args: unknown[]) => unknown;
  const isObject = (value: unknown) => typeof value === 'function' || (typeof value === 'object' && value !== null);
  const runsCode = (args: readonly unknown[]) => {
    for (let at = 0; at < args.length; at += 1) if (isObject(args[at])) return true;
    return false;
  };
  const callNative = (native: Method, self: unknown, args: readonly unknown[], caller: Method): unknown => {
    try {
      return apply(native, self, args);
    } catch (error) {
      // The native's own error, unless an argument may have thrown it: its stack is to have no line of ours.
      if (isObject(error) && !runsCode(args)) captureStackTrace(error as Error, caller);
      throw error;
    }
  };

  const print = Function.prototype.toString;
  const replace: NativeFunctions['replace'] = (owner, name, kind, answer) => {
    const own = getOwnPropertyDescriptor(owner, name);
    const native = own?.[kind] as Method | undefined;
    if (!own || !native) return;
    const methods = {
      [native.name](this: unknown, ...args: unknown[]): unknown {
        // How it prints; `toString` alone knows the mark.
        if (this === 'NATIVE_MARK') return apply(print, native, []);
        // A page may have an accessor for what an empty list lacks.
        const first = args.length > 0 ? args[0] : undefined;
        return answer(this, first, (on, others = args) => callNative(native, on, others, method), args);
      },
    };
    const method = methods[native.name] as Method;
    // Without a prototype: a page may define what a descriptor lacks.
    const length: object = { __proto__: null, value: native.length, configurable: true };
    defineProperty(method, 'length', length);
    const replaced: object = { __proto__: null, ...own, [kind]: method };
    defineProperty(owner, name, replaced);
  };
  const wrap: NativeFunctions['wrap'] = (owner, name, answer) => {
    const own = getOwnPropertyDescriptor(owner, name);
    if (own) replace(owner, name, hasOwn(own, 'value') ? 'value' : 'get', answer);
  };
  const wrapGetter: NativeFunctions['wrapGetter'] = (owner, name, value) =>
    wrap(owner, name, (self, _, original) => {
      original(self);
      return value;
    });

  const includes = call.bind(String.prototype.includes) as (text: string, part: string) => boolean;
  const slice = call.bind(String.prototype.slice) as (text: string, from: number, to: number) => string;
  const indexOf = call.bind(String.prototype.indexOf) as (text: string, part: string, from: number) => number;
  const printed = new WeakMap<object, object>();
  const nativeOf = call.bind(printed.get, printed) as (self: unknown) => object | undefined;
  /** The offset after the first `count` lines of a stack; each of them is one of several. */
  const lineEnd = (stack: string, count: number): number => {
    let end = -1;
    for (let line = 0; line < count; line += 1) end = indexOf(stack, '\n', end + 1);
    return end < 0 ? stack.length : end;
  };
  /** Whether a stack can be read without running code of the page, which formats it otherwise, or names its error. */
  const isReadable = () => {
    const name = getOwnPropertyDescriptor(typeErrors, 'name');
    return !('prepareStackTrace' in NativeError) && name !== undefined && hasOwn(name, 'value');
  };
  /**
   * The error of `toString` for what is no function: as it has a line of the native itself, its stack is that, and then
   * those of the page.
   */
  const showNative = (error: Error, caller: Method): void => {
    const stack = isReadable() ? error.stack : undefined;
    captureStackTrace(error, caller);
    const ofPage = stack === undefined ? undefined : error.stack;
    if (typeof stack === 'string' && typeof ofPage === 'string')
      error.stack = slice(stack, 0, lineEnd(stack, 2)) + slice(ofPage, lineEnd(ofPage, 1), ofPage.length);
  };
  replace(Function.prototype, 'toString', 'value', (self) => {
    try {
      const source = apply(print, nativeOf(self) ?? self, []);
      return includes(source, mark) ? apply(self as Method, mark, []) : source;
    } catch (error) {
      showNative(error as Error, ownToString);
      throw error;
    }
  });
  const ownToString = Function.prototype.toString as Method;
  return { replace, wrap, wrapGetter, printAs: printed.set.bind(printed) };
}
