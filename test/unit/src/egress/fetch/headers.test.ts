import t from 'tap';
import { answerHeaders, requestHeaders } from '../../../../../src/egress/fetch/headers.ts';

t.test('what a plugin leaves out is set, what it sets stays', (t) => {
  t.strictSame(requestHeaders([]), [
    ['user-agent', 'isolayer-plugin'],
    ['accept', '*/*'],
    ['accept-encoding', 'gzip, deflate, br'],
  ]);
  t.strictSame(
    requestHeaders([
      ['User-Agent', 'mine'],
      ['accept', 'a/b'],
      ['Range', 'bytes=0-1'],
      ['x', '1'],
      ['x', '2'],
    ]),
    [
      ['user-agent', 'mine'],
      ['accept', 'a/b'],
      ['range', 'bytes=0-1'],
      ['x', '1'],
      ['x', '2'],
      ['accept-encoding', 'identity'],
    ],
  );
  t.end();
});

t.test('nothing of the connection, no line break and no flood gets through', (t) => {
  const refused = (name: string, value = 'x') =>
    t.throws(() => requestHeaders([[name, value]]), { name: 'FetchFailure', kind: 'invalid', unsent: true });
  for (const name of [
    'Host',
    'connection',
    'Content-Length',
    'transfer-encoding',
    'Proxy-Authorization',
    'upgrade',
    'te',
    'expect',
    'via',
  ]) {
    refused(name);
  }
  for (const name of ['', 'a b', 'a:b', 'a\r\nb', 'é']) refused(name);
  for (const value of ['a\r\nhost: evil', 'a\nb', 'a\0b', '\u20ac', 'a\x7fb']) refused('x', value);
  t.throws(() => requestHeaders(Array.from({ length: 101 }, () => ['x', 'y'] as const)), /at most 100/);
  t.throws(() => requestHeaders([['x', 'y'.repeat(16_384)]]), /16384 bytes/);
  t.end();
});

t.test('each line of an answer is a pair', (t) => {
  t.strictSame(answerHeaders({ 'Set-Cookie': ['a', 'b'], x: '1', none: undefined }), [
    ['set-cookie', 'a'],
    ['set-cookie', 'b'],
    ['x', '1'],
  ]);
  t.end();
});
