import asyncHooks, { AsyncResource } from 'node:async_hooks';
import { processorTime } from './group-tests.ts';

/**
 * The hooks by which Node.js's runner knows to which test each promise of the process belongs. It uses them while tests are declared, and to name
 * the test of an error that nothing caught; following every promise takes up to a third of the processor time of tests.
 */
const hooks: asyncHooks.AsyncHook[] = [];
const { createHook } = asyncHooks;
asyncHooks.createHook = (callbacks) => {
  const hook = createHook(callbacks);
  hooks.push(hook);
  return hook;
};
// The runner takes its `createHook` when it is loaded.
const { after, before, describe } = await import('node:test');
asyncHooks.createHook = createHook;

/**
 * What its files' last hooks may take. A hook that fails keeps the later ones of its file from running, so that a server which they stop would
 * hold the process until the limit of its file.
 */
const END_MS = 60_000;

/** Ends this process with an error if something still holds it when its files' hooks have had their time. */
function endInTime(endMs: number): void {
  const overdue = () => {
    console.error(`held open ${endMs / 1000} s after its last test by ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  };
  setTimeout(overdue, endMs).unref();
}

/**
 * Runs test files in this process, one after the other, each as a suite with its path as name: its hooks are for its own tests. All are
 * loaded first, because Node.js starts no suite before that. From then on an error that nothing caught is printed with the file that runs, and fails the
 * group, as does what holds the process open `endMs` milliseconds after the last test.
 */
export function runTestGroup(root: string, files: readonly string[], endMs = END_MS): void {
  let loaded: Promise<unknown> = Promise.resolve();
  let left = files.length;
  let running = '';
  let used = process.cpuUsage();
  /** Prints what this process has used since the last file ended; the report of the run reads it. */
  const printUsed = () => {
    const { user, system } = process.cpuUsage(used);
    used = process.cpuUsage();
    if (running) console.error(`${processorTime}${((user + system) / 1e6).toFixed(2)} s of ${running}`);
  };
  process.on('exit', printUsed);
  const print = (error: unknown) => console.error(`an error that nothing caught, in ${running}:`, error);
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, print);
  for (const file of files)
    describe(file, () => {
      before(() => {
        printUsed();
        running = file;
      });
      // The first hook of its suite, which runs whichever of the file's own fails.
      if (file === files.at(-1)) after(() => endInTime(endMs));
      // A test belongs to the suite in whose asynchronous context it is declared, which waiting for another promise leaves.
      const ofSuite = new AsyncResource('test file');
      const { href } = new URL(file, `${root}/`);
      const load = () => ofSuite.runInAsyncScope(() => import(href));
      // A file that cannot be loaded fails its own suite.
      const own = loaded.then(load).finally(() => {
        left -= 1;
        if (left === 0) for (const hook of hooks) hook.disable();
      });
      loaded = own.catch(() => undefined);
      return own;
    });
}
