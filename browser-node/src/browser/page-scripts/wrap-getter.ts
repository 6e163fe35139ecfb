/** Replaces what a getter of a built-in object answers. */
export type WrapGetter = (owner: object, name: string, value: unknown) => void;

/**
 * The getter is wrapped rather than replaced: it stays where it was, still refuses a wrong `this` and prints as native code. A property
 * that is not there stays away.
 */
export const wrapGetter: WrapGetter = (owner, name, value) => {
  const { apply } = Reflect;
  const property = Object.getOwnPropertyDescriptor(owner, name);
  if (!property?.get) return;
  // Without a prototype: a page can add traps to `Object.prototype`.
  const traps: ProxyHandler<() => unknown> = Object.create(null);
  traps.apply = (getter, self, args) => {
    apply(getter, self, args);
    return value;
  };
  const get = new Proxy(property.get, traps);
  Object.defineProperty(owner, name, { ...property, get });
};
