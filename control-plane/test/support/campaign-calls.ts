import assert from 'node:assert/strict';
import type { Json, RunningApi } from './running-api.ts';

export const CAMPAIGNS = '/api/v1/campaigns';
export const GROUPS = '/api/v1/campaign-groups';
export const CAMPAIGN = { name: 'Spring offer', url: 'https://shop.example/', country_codes: ['us', 'US', 'PT'] };

/** Calls about campaigns of an API, which runs when they are made. */
export const campaignCalls = (api: () => RunningApi) => ({
  create: async (change: object = {}): Promise<Json> => {
    const answer = await api().post(CAMPAIGNS, { ...CAMPAIGN, ...change });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  },
  patch: (id: string, body: object) => api().call('PATCH', `${CAMPAIGNS}/${id}`, { body }),
  newGroup: async (name: string): Promise<string> => (await api().post(GROUPS, { name })).body.id,
  namesOf: async (query: string): Promise<string> =>
    (await api().get(`${CAMPAIGNS}${query}`)).body.items.map(({ name }: Json) => name).join(' '),
});
