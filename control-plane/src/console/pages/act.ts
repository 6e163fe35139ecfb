import { ApiError } from '../../http/api-error.ts';
import { parseJson } from '../../http/read-body.ts';
import { API_BODY } from '../../http/serve-routes.ts';
import { DONE, type Done } from '../components/actions.ts';
import { returnPath } from '../session/return-path.ts';
import type { PageRoute, Visit } from '../visit.ts';

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Calls the operation of a button, and returns to its page. What may be called is what the credential may: the API decides. */
export const act: PageRoute = {
  method: 'POST',
  path: '/act',
  handle: async (visit) => {
    const { api, form, link } = visit;
    const method = METHODS.find((one) => one === form.get('method'));
    const path = form.get('path') ?? '';
    if (!method || !path.startsWith('/api/v1/')) throw new ApiError('not_found', 'There is no such action.');
    await api.send(method, path, await bodyOf(visit));
    const back = new URL(returnPath(form.get('back'), link('')), 'http://console.invalid');
    const done = form.get('done') ?? '';
    if (Object.hasOwn(DONE, done)) back.searchParams.set('done', done as Done);
    return { redirect: back.pathname + back.search };
  },
};

/** Throws as the API does for a body that has too many values or is nested too deeply. */
async function bodyOf({ form }: Visit): Promise<unknown> {
  const sent = form.get('body');
  return sent === null ? undefined : parseJson(Buffer.from(sent), API_BODY);
}
