import assert from 'node:assert/strict';
import { type Answered, type Json, KEYS, type RunningApi } from './running-api.ts';

export const SETS = '/api/v1/policy-sets';
export const CAMPAIGNS = '/api/v1/campaigns';
export const CAMPAIGN = { name: 'Spring offer', url: 'https://shop.example/', country_codes: ['US'] };
export const AUTOSOUND = { tag_slug: 'autosound' };
export const theirs = { key: KEYS.theirs };
export const operator = { key: 'key-of-the-operator' };

export const done = (answer: Answered, status = 204): Json => {
  assert.equal(answer.status, status, answer.text);
  return answer.body;
};

/** Calls about policy sets of an API, which runs when they are made. */
export function policySetCalls(api: () => RunningApi) {
  const create = async (change: object = {}, sent = {}): Promise<Json> =>
    done(await api().post(SETS, { name: 'Brand safety', entries: [AUTOSOUND], ...change }, sent), 201);
  const act = (id: string, action: string, body?: object, sent = {}) =>
    api().post(`${SETS}/${id}/${action}`, body, sent);
  return {
    create,
    act,
    campaign: async (change: object = {}, sent = {}): Promise<Json> =>
      done(await api().post(CAMPAIGNS, { ...CAMPAIGN, ...change }, sent), 201),
    put: (id: string, body: object, sent = {}) => api().call('PUT', `${SETS}/${id}`, { body, ...sent }),
    boundSet: async (id: string, sent = {}) => (await api().get(`${CAMPAIGNS}/${id}`, sent)).body.policy_set_id,
    approved: async (change: object = {}): Promise<Json> => {
      const set = await create(change);
      done(await act(set.id, 'request-approval'));
      done(await act(set.id, 'approve', undefined, operator));
      return set;
    },
  };
}
