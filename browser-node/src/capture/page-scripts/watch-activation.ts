import type { Natives } from './natives.ts';

/** Runs in the page: reports once when the page asks whether its visitor has used it. */
export function watchActivation({ precede }: Natives, send: () => void): void {
  let isReported = false;
  const ask = () => {
    if (isReported) return;
    isReported = true;
    send();
  };
  for (const name of ['hasBeenActive', 'isActive']) precede(UserActivation.prototype, name, () => ask());
}
