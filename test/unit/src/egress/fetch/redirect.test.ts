import t from 'tap';
import type { FetchRequest } from '../../../../../src/egress/fetch/plugin-fetch.ts';
import { redirected } from '../../../../../src/egress/fetch/redirect.ts';

const request = (more: Partial<FetchRequest> = {}): FetchRequest => ({
  url: new URL('https://a.test/one'),
  method: 'POST',
  headers: [
    ['authorization', 'secret'],
    ['cookie', 'c'],
    ['content-type', 'text/plain'],
    ['x-own', '1'],
  ],
  body: Buffer.from('body'),
  redirect: 'follow',
  ...more,
});
const names = (next: FetchRequest | undefined) => next?.headers.map(([name]) => name);

t.test('what is no redirect is the answer', (t) => {
  t.equal(redirected(request(), 200, '/two'), undefined);
  t.equal(redirected(request(), 302, undefined), undefined);
  t.equal(redirected(request(), 304, '/two'), undefined);
  t.equal(redirected(request({ redirect: 'manual' }), 302, '/two'), undefined);
  t.end();
});

t.test('methods change as the standard says', (t) => {
  const method = (status: number, given: string) => redirected(request({ method: given }), status, '/two')?.method;
  t.strictSame(
    [301, 302, 303, 307, 308].map((status) => method(status, 'POST')),
    ['GET', 'GET', 'GET', 'POST', 'POST'],
  );
  t.strictSame(
    [301, 302, 303, 307].map((status) => method(status, 'PUT')),
    ['PUT', 'PUT', 'GET', 'PUT'],
  );
  t.strictSame(
    [301, 303].map((status) => method(status, 'HEAD')),
    ['HEAD', 'HEAD'],
  );
  const toGet = redirected(request(), 303, '/two');
  t.equal(toGet?.url.href, 'https://a.test/two');
  t.equal(toGet?.body, undefined);
  t.strictSame(names(toGet), ['authorization', 'cookie', 'x-own'], 'what described the body went with it');
  t.equal(redirected(request(), 307, '/two')?.body?.toString(), 'body');
  t.end();
});

t.test('credentials stay with their origin', (t) => {
  const others = ['https://b.test/', 'http://a.test/two', 'https://a.test:8443/', '//b.test/x'];
  for (const location of others) {
    t.strictSame(names(redirected(request(), 307, location)), ['content-type', 'x-own'], location);
  }
  t.end();
});

t.test('places that nobody may be sent to', (t) => {
  for (const location of ['ftp://a.test/', 'file:///etc/passwd', 'https://user:pass@a.test/', 'https://', 'data:,x']) {
    t.throws(() => redirected(request(), 302, location), { name: 'FetchFailure', kind: 'redirect' }, location);
  }
  t.throws(() => redirected(request({ redirect: 'error' }), 302, '/two'), /forbids/);
  t.end();
});
