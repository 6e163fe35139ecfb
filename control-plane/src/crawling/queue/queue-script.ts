import { loadScript } from '../../platform/redis.ts';

/** Loads a transition of crawl jobs from `scripts`, after the functions of `scripts/functions` that it calls. */
export const queueScript = (name: string, ...functions: string[]) =>
  loadScript(...[...functions.map((one) => `functions/${one}`), name].map(fileOf));

const fileOf = (name: string) => new URL(`scripts/${name}.lua`, import.meta.url);
