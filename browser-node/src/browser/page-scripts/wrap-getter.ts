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
  const get = new Proxy(property.get, {
    apply(getter, self, args) {
      apply(getter, self, args);
      return value;
    },
  });
  Object.defineProperty(owner, name, { ...property, get });
};
