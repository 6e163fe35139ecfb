import { AsyncResource } from 'node:async_hooks';
import { describe } from 'node:test';

/**
 * Runs test files in this process, one after the other, each as a suite with its path as name: its hooks are for its own tests. All are
 * loaded first, because Node.js starts no suite before that.
 */
export function runTestGroup(root: string, files: readonly string[]): void {
  let loaded: Promise<unknown> = Promise.resolve();
  for (const file of files)
    describe(file, () => {
      // A test belongs to the suite in whose asynchronous context it is declared, which waiting for another promise leaves.
      const ofSuite = new AsyncResource('test file');
      const { href } = new URL(file, `${root}/`);
      const load = () => ofSuite.runInAsyncScope(() => import(href));
      // A file that cannot be loaded fails its own suite.
      const own = loaded.then(load);
      loaded = own.catch(() => undefined);
      return own;
    });
}
