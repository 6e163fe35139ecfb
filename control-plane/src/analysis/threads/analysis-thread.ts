import { parentPort } from 'node:worker_threads';
import { withoutFirstDomains } from '../evidence/evidence.ts';
import { unpackScan } from '../evidence/packed-scan.ts';
import { ruleInputs, runSearch } from '../rules/evaluation/run-rules.ts';
import { expressionProblem } from '../rules/search/expression.ts';
import { textsOf } from '../rules/search/texts.ts';
import { inspect } from './inspect.ts';
import type { ThreadMessage, ThreadRequest } from './messages.ts';

const reply = (message: ThreadMessage): void => parentPort!.postMessage(message);

parentPort!.on('message', (request: ThreadRequest) => {
  try {
    if ('patterns' in request) reply({ problems: request.patterns.map(expressionProblem) });
    else analyse(request);
  } catch (error) {
    reply({ failed: String(error) });
  }
});

function analyse({ evidence, inspects, search }: Extract<ThreadRequest, { evidence: unknown }>): void {
  const { scan } = evidence;
  const { evidence: captured, unreadable } = unpackScan(evidence);
  const judged = withoutFirstDomains(captured, scan.ignore_first_n_domains);
  if (inspects) {
    const { failed, ...inspection } = inspect({ captured, judged }, scan);
    reply({ inspection: { ...inspection, failed: [...unreadable, ...failed] } });
  } else reply({ inputs: ruleInputs(judged) });
  if (search) runSearch(search, textsOf(judged), reply);
  reply({ done: true });
}
