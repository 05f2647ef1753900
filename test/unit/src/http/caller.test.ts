import type { FastifyRequest } from 'fastify';
import t from 'tap';
import { accessOf } from '../../../../src/http/caller.ts';
import { API_KEY, startHttp } from '../../../support/http-server.ts';

t.test('a change is told which key and which request asks for it, and under which name', async (t) => {
  const { post, services } = await startHttp(t);
  await post('/api/v1/notifications', '{"id":"a"}', { 'x-request-id': 'mine' });
  await post('/api/v1/notifications', '{"id":"b"}', { 'x-request-id': 'keyed', 'idempotency-key': 'k' });
  const { callers } = services.notifications;
  t.match(callers, [
    { keyId: 'default', requestId: 'mine', effect: undefined },
    { keyId: 'default', requestId: 'keyed', effect: { occurrence: 0, isStep: false } },
  ]);
  t.notMatch(JSON.stringify(callers), API_KEY);
});

t.test('without a key nothing may be done', (t) => {
  const request = { identity: null } as FastifyRequest;
  t.strictSame(accessOf(request).idsOf('relayers'), []);
  t.end();
});
