/** What stands in the sources of functions that print as native code, until a mark that nobody can guess takes its place. */
export const NATIVE_MARK = 'NATIVE_MARK';

/** Replaces functions of the browser by ones that a page cannot tell from them. */
export type NativeFunctions = {
  /** What a getter answers. A property that is not there stays away. */
  wrapGetter(owner: object, name: string, value: unknown): void;
  /** What a method answers: `answer` is given what it was called with and its own answer, which it may pass on. */
  wrapMethod(owner: object, name: string, answer: (argument: unknown, own: unknown) => unknown): void;
};

/**
 * Runs in pages, frames and workers, before anything else of ours. Functions with `NATIVE_MARK` in their source print as native code from then
 * on: `Function.prototype.toString` is one of them. The mark is the same in all documents of a context, so that a frame's
 * `toString` knows the functions of its parent and the other way round, and no page can guess it.
 *
 * The functions are methods and getters: as native ones they have no `prototype`, cannot be constructed, and refuse a wrong `this` with the
 * browser's own error, whose stack does not show them.
 */
export function nativeFunctions(mark: string): NativeFunctions {
  const { apply, getOwnPropertyDescriptor, defineProperty } = Reflect;
  const { captureStackTrace } = Error;
  type Method = (...args: unknown[]) => unknown;
  const callNative = (native: Method, self: unknown, args: unknown[], caller: Method | (() => unknown)): unknown => {
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

  return {
    wrapGetter(owner, name, value) {
      const own = getOwnPropertyDescriptor(owner, name);
      if (!own?.get) return;
      const native = own.get as Method;
      const wrapped = getOwnPropertyDescriptor(
        {
          get [name]() {
            // NATIVE_MARK
            callNative(native, this, [], get);
            return value;
          },
        },
        name,
      );
      const get = wrapped?.get as Method;
      defineProperty(owner, name, { ...own, get });
    },
    wrapMethod(owner, name, answer) {
      const own = getOwnPropertyDescriptor(owner, name);
      if (!own?.value) return;
      const { [name]: value } = {
        [name](...args: unknown[]) {
          // NATIVE_MARK
          return answer(args[0], callNative(own.value, this, args, value as Method));
        },
      };
      defineProperty(value as Method, 'length', { value: own.value.length, configurable: true });
      defineProperty(owner, name, { ...own, value });
    },
  };
}
