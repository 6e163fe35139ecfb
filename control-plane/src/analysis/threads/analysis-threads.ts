import type { PackedScan } from '../evidence/packed-scan.ts';
import type { GroupOutcome, GroupResult, RuleInputs, RuleSearch, TryRules } from '../rules/evaluation/run-rules.ts';
import type { Inspection } from './inspect.ts';
import type { ThreadMessage, ThreadRequest } from './messages.ts';
import { CLOSED, type Task, ThreadPool } from './thread-pool.ts';

/** CPU time that a thread may use beyond a search's budget, in ms: a single step cannot check the budget. */
const GRACE_MS = 1_000;
/** CPU time for unpacking and inspecting evidence, and for compiling rules, in ms. */
const PREPARE_MS = 30_000;

const NO_RESULT: GroupResult = { matches: [], finished: [], unreadable: [], elapsed_ms: 0 };

/** The analysis of a scan's evidence. `search`: the outcome of each group of rules, or why rules could not be run. */
export type Analysis = { inspection: Inspection; search: GroupOutcome[] | { failed: string } };

/** Analyses evidence: see `AnalysisThreads.analyse`. */
export type Analyse = (evidence: PackedScan, search: RuleSearch | null) => Promise<Analysis>;

/**
 * Unpacks and inspects evidence, runs rules and compiles expressions in threads, so that no page and no pattern holds
 * up the process.
 */
export class AnalysisThreads {
  readonly #pool: ThreadPool<ThreadRequest, ThreadMessage>;

  constructor(size: number) {
    this.#pool = new ThreadPool(new URL('./analysis-thread.ts', import.meta.url), size);
  }

  /**
   * Unpacks a scan's evidence once, inspects it and runs rules over it. Rejects if the evidence cannot be unpacked or
   * its inspection ends the thread. A group of rules that ends the thread keeps what it had found; later groups find
   * nothing.
   */
  async analyse(evidence: PackedScan, search: RuleSearch | null): Promise<Analysis> {
    let inspection: Inspection | undefined;
    const outcomes = this.#runEvidence({ evidence, inspects: true, search }, (message) => {
      inspection = message.inspection;
    });
    try {
      const known = await outcomes;
      const unreached = search?.groups.slice(known.length).map(() => ({ ...NO_RESULT, ended: 'run' as const })) ?? [];
      return { inspection: inspection!, search: [...known, ...unreached] };
    } catch (cause) {
      if (!inspection) throw cause;
      return { inspection, search: { failed: String(cause) } };
    }
  }

  /**
   * Tries groups of rules on a scan, each within a budget of its own. A group that ends the thread does not affect the
   * others.
   */
  tryRules: TryRules = (evidence, groups, budgetMs) => {
    const inputs = Promise.withResolvers<RuleInputs>();
    const run = async (left: string[]): Promise<GroupOutcome[]> => {
      const search = { groups: left, budgetMs, shared: false };
      const known = await this.#runEvidence({ evidence, inspects: false, search }, (message) =>
        inputs.resolve(message.inputs),
      );
      return known.length === left.length ? known : [...known, ...(await run(left.slice(known.length)))];
    };
    const outcomes = run(groups);
    outcomes.catch(inputs.reject);
    return { inputs: inputs.promise, outcomes };
  };

  /** Why RE2 refuses each of these patterns of an organization (null: the platform); null: RE2 accepts it. */
  problemsOf(owner: string | null, patterns: string[]): Promise<(string | null)[]> {
    return new Promise((resolve, reject) => {
      this.#pool.run({
        owner,
        request: { patterns },
        limitMs: PREPARE_MS,
        onMessage: (message) => {
          if ('problems' in message) resolve(message.problems);
          return { done: true };
        },
        onLost: (reason) =>
          reason === CLOSED ? reject(new Error(reason)) : resolve(patterns.map(() => 'pattern too large')),
      });
    });
  }

  /** Ends all threads; running work is lost. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  /**
   * The outcomes of the groups up to the last one, or up to the one in which the thread had to be ended. Rejects if the
   * thread failed or was ended before the first group began.
   */
  #runEvidence<R extends EvidenceRequest>(
    request: R,
    onUnpacked: (message: FirstReply<R>) => void,
  ): Promise<GroupOutcome[]> {
    const { promise, resolve, reject } = Promise.withResolvers<GroupOutcome[]>();
    const results: GroupResult[] = [];
    const budgetMs = request.search?.budgetMs ?? 0;
    let [current, preparing] = [-1, 'the evidence could not be inspected'];
    const onMessage: EvidenceTask['onMessage'] = (message) => {
      if ('failed' in message) reject(new Error(message.failed));
      if ('done' in message) resolve(results.map((result) => ({ ...result, ended: 'run' })));
      if ('failed' in message || 'done' in message) return { done: true };
      if ('group' in message) {
        const { matches = [] } = results[message.group] ?? {};
        results[message.group] = { ...message.result, matches: [...matches, ...message.result.matches] };
      }
      if ('began' in message) {
        current = message.began;
        return { limitMs: budgetMs + GRACE_MS };
      }
      if ('inspection' in message || 'inputs' in message) {
        preparing = 'the rules could not be prepared';
        onUnpacked(message as FirstReply<R>);
        return { limitMs: PREPARE_MS };
      }
      return {};
    };
    const onLost = (reason: string) => {
      if (current < 0) return reject(new Error(`${preparing}: ${reason}`));
      const known = Array.from({ length: current + 1 }, (_, at) => results[at] ?? NO_RESULT);
      resolve(known.map((result, at) => ({ ...result, ended: at === current ? 'killed' : 'run' })));
    };
    const owner = request.evidence.scan.organization_id;
    this.#pool.run({ owner, request, limitMs: PREPARE_MS, onMessage, onLost });
    return promise;
  }
}

type EvidenceRequest = Extract<ThreadRequest, { evidence: unknown }>;
type EvidenceTask = Task<ThreadRequest, ThreadMessage>;
type FirstReply<R extends EvidenceRequest> = R['inspects'] extends true
  ? { inspection: Inspection }
  : { inputs: RuleInputs };
