import type { Store } from '../store.ts';

/** Opens the embedded engine on one file (`:memory:` for none). */
export async function openEmbedded(path: string): Promise<Store> {
  throw new Error(`the embedded store cannot open ${path} yet`);
}
