import type { NativeFunctions } from './native-functions.ts';

/**
 * For pages, frames and workers: a request whose headers a script makes longer than `characters` fails as one does that
 * the network refuses. No server takes it (Apache and nginx accept 8 KB of a header, Node.js 16 KB of all), and the
 * browser would write its headers to DevTools several times, and keep all other pages waiting meanwhile. An
 * `XMLHttpRequest` is sent without the header that makes its headers longer.
 */
export function boundRequestHeaders(characters: number, natives: NativeFunctions): void {
  // Read now: a page may replace them. Worklets have none of them.
  if (typeof Request !== 'function' || typeof Headers !== 'function') return;
  const { apply, construct, getOwnPropertyDescriptor } = Reflect;
  const NativeRequest = Request;
  const { forEach } = Headers.prototype;
  const headersOf = getOwnPropertyDescriptor(NativeRequest.prototype, 'headers')?.get as () => Headers;
  const reject = Promise.reject.bind(Promise);
  const NativeError = TypeError;

  const isTooLong = (request: unknown): boolean => {
    let left = characters;
    apply(forEach, apply(headersOf, request, []), [
      (value: string, name: string) => {
        left -= name.length + value.length;
      },
    ]);
    return left < 0;
  };
  // A request is made of the arguments first, as `fetch` itself does (Fetch standard, 5.6): each of them is read once.
  const boundFetch = (owner: object): void =>
    natives.wrap(owner, 'fetch', (self, input, original, args) => {
      let request: unknown;
      let isRefused: boolean;
      try {
        request = args.length > 1 ? construct(NativeRequest, args) : input;
        isRefused = isTooLong(request);
      } catch {
        // An address alone, which has no headers, or arguments of which the browser says itself what is wrong.
        return original(self);
      }
      return isRefused ? reject(new NativeError('Failed to fetch')) : original(self, [request]);
    });
  const { WorkerGlobalScope } = globalThis as { WorkerGlobalScope?: { prototype: object } };
  boundFetch(globalThis);
  // In workers it is a method of their prototype.
  if (WorkerGlobalScope) boundFetch(WorkerGlobalScope.prototype);

  if (typeof XMLHttpRequest !== 'function') return;
  const lengths = new WeakMap<object, number>();
  const [get, set, forget] = [lengths.get.bind(lengths), lengths.set.bind(lengths), lengths.delete.bind(lengths)];
  // It has no headers from then on (XMLHttpRequest standard, "the open() method").
  natives.wrap(XMLHttpRequest.prototype, 'open', (self, _, original) => {
    original(self);
    forget(self as object);
  });
  natives.wrap(XMLHttpRequest.prototype, 'setRequestHeader', (self, _, original, args) => {
    if (args.length < 2) return original(self);
    const header = [`${args[0]}`, `${args[1]}`];
    const length = (get(self as object) ?? 0) + header[0]!.length + header[1]!.length;
    if (length > characters) return undefined;
    const result = original(self, header);
    set(self as object, length);
    return result;
  });
}
