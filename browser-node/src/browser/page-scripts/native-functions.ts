/** Placeholder in the sources of functions that print as native code; it is replaced by a random mark. */
export const NATIVE_MARK = 'NATIVE_MARK';

/** Replaces functions of the browser by functions that a page cannot distinguish from them. */
export type NativeFunctions = {
  /**
   * Replaces a getter or a method; a property that does not exist is not added. `answer` gets the object that it was called on, the first
   * argument, the original, which can be called on another object and with other arguments, and throws the browser's errors.
   */
  wrap(
    owner: object,
    name: string,
    answer: (
      self: unknown,
      argument: unknown,
      original: (self: unknown, args?: readonly unknown[]) => unknown,
      all: readonly unknown[],
    ) => unknown,
  ): void;
  /** Replaces a getter by one with a fixed value; it throws the original's error on other objects. */
  wrapGetter(owner: object, name: string, value: unknown): void;
};

/**
 * Runs in pages, frames and workers before our other scripts. Functions with `NATIVE_MARK` in their source print as native code from then on: `Function.prototype.toString` is one of them. The mark is the same in all documents of a context, so that a frame's
 * `toString` knows the functions of its parent and the other way round, and no page can guess it.
 *
 * The functions are methods and getters: as native ones they have no `prototype`, cannot be constructed, and refuse a wrong `this` with the
 * browser's own error, whose stack does not show them.
 */
export function nativeFunctions(mark: string): NativeFunctions {
  const { apply, getOwnPropertyDescriptor, defineProperty } = Reflect;
  const { captureStackTrace } = Error;
  type Method = (...args: unknown[]) => unknown;
  const callNative = (native: Method, self: unknown, args: readonly unknown[], caller: Method): unknown => {
    try {
      return apply(native, self, args);
    } catch (error) {
      captureStackTrace(error as Error, caller);
      throw error;
    }
  };

  const includes = Function.prototype.call.bind(String.prototype.includes) as (text: string, part: string) => boolean;
  const ownToString = Function.prototype.toString;
  const replacement = {
    toString(this: object): string {
      // NATIVE_MARK. Its own error names it, as that of the native function does.
      const source: string = apply(ownToString, this, []);
      if (!includes(source, mark)) return source;
      return `function ${getOwnPropertyDescriptor(this, 'name')?.value}() { [native code] }`;
    },
  };
  const property = getOwnPropertyDescriptor(Function.prototype, 'toString');
  defineProperty(Function.prototype, 'toString', { ...property, value: replacement.toString });

  const wrap: NativeFunctions['wrap'] = (owner, name, answer) => {
    const own = getOwnPropertyDescriptor(owner, name);
    const native = (own?.get ?? own?.value) as Method | undefined;
    if (!own || !native) return;
    const run = (self: unknown, args: unknown[], caller: Method): unknown =>
      answer(self, args[0], (on, others = args) => callNative(native, on, others, caller), args);
    const replacement = own.get
      ? {
          get [name](): unknown {
            // NATIVE_MARK
            return run(this, [], wrapped.get as Method);
          },
        }
      : {
          [name](...args: unknown[]): unknown {
            // NATIVE_MARK
            return run(this, args, wrapped.value);
          },
        };
    const wrapped = getOwnPropertyDescriptor(replacement, name) as PropertyDescriptor;
    if (own.get) return void defineProperty(owner, name, { ...own, get: wrapped.get as Method });
    defineProperty(wrapped.value, 'length', { value: native.length, configurable: true });
    defineProperty(owner, name, { ...own, value: wrapped.value });
  };
  const wrapGetter: NativeFunctions['wrapGetter'] = (owner, name, value) =>
    wrap(owner, name, (self, _, original) => {
      original(self);
      return value;
    });
  return { wrap, wrapGetter };
}
