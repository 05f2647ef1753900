import t from 'tap';
import { possibleErrors } from '../../../../../src/http/openapi/possible-errors.ts';

const none = { errors: [] };

t.test('whatever needs a key may end for its sake', (t) => {
  const ofService = ['TOO_MANY_REQUESTS', 'INTERNAL', 'UNAVAILABLE', 'HANDLER_TIMEOUT'];
  t.strictSame(possibleErrors(none, 'GET', '/api/v1/health'), ofService);
  const ofKey = ['UNAUTHORIZED', 'NOT_PERMITTED', 'ORIGIN_NOT_ALLOWED'];
  t.strictSame(possibleErrors(none, 'GET', '/api/v1/relayers/:id'), [...ofKey, ...ofService]);
  const ofAny = ['UNAUTHORIZED', 'ORIGIN_NOT_ALLOWED'];
  t.strictSame(possibleErrors(none, 'GET', '/api/v1/api-keys/current'), [...ofAny, ...ofService]);
  t.end();
});

t.test('a kind that the key does not see has no paths, but for lists that are empty', (t) => {
  const mayBeNoPath = (method: string, url: string) => possibleErrors(none, method, url).includes('ROUTE_NOT_FOUND');
  for (const [method, url] of [
    ['GET', '/api/v1/signers'],
    ['GET', '/api/v1/signers/:id'],
    ['POST', '/api/v1/relayers'],
  ] as const) {
    t.ok(mayBeNoPath(method, url), `${method} ${url}`);
  }
  for (const url of ['/api/v1/relayers', '/api/v1/relayers/:id', '/plugins/:id/call', '/api/v1/health']) {
    t.notOk(mayBeNoPath('GET', url), url);
  }
  t.end();
});

t.test('what may carry a body may be refused for it, once', (t) => {
  const codes = possibleErrors({ errors: ['INVALID_REQUEST', 'RELAYER_NOT_FOUND'] }, 'DELETE', '/api/v1/relayers/:id');
  t.ok(codes.includes('UNSUPPORTED_MEDIA_TYPE') && codes.includes('PAYLOAD_TOO_LARGE'));
  t.equal(new Set(codes).size, codes.length);
  t.end();
});
