import { existsSync } from 'node:fs';
import { join } from 'node:path';

const checkout = join(import.meta.dirname, '../../..');

/** Where `npm run corpus -- fetch` puts what it fetched, unless `ADSWEEP_CORPUS_DIR` names another folder. */
export const FETCHED_CORPUS = join(checkout, '.tools/corpus');
/** What the repository has itself: values that were computed from the sources, and small sets. */
export const CARRIED_CORPUS = join(checkout, 'loadtest/corpus/carried');

/** A file or folder of the corpora's data. `skip`: why a test that needs it cannot run; false when it is there. */
export type CorpusData = { path: string; skip: string | false };

/**
 * Finds `name`, such as `vast` or `url/psl-tests.tsv`, in the data folder, else among what the repository carries. The data folder is
 * `ADSWEEP_CORPUS_DIR` if that is set, else the fetched one, else `shared/data` beside the checkout.
 */
export function corpusData(name: string, environment: NodeJS.ProcessEnv = process.env): CorpusData {
  const chosen = environment.ADSWEEP_CORPUS_DIR;
  const fetched = chosen ? [chosen] : [FETCHED_CORPUS, join(checkout, '../shared/data')];
  const path = [...fetched, CARRIED_CORPUS].map((folder) => join(folder, name)).find((one) => existsSync(one));
  if (path) return { path, skip: false };
  const remedy = chosen ? 'ADSWEEP_CORPUS_DIR does not have it' : '`npm run corpus -- fetch` brings it';
  return { path: join(fetched[0]!, name), skip: `${name} is not there: ${remedy}` };
}
