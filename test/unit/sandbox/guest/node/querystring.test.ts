import * as node from 'node:querystring';
import t from 'tap';
import querystring from 'unenv/node/querystring';
import { sameAsNode } from '../../../../support/same-as-node.ts';

type Module = typeof node & { unescapeBuffer(text: string): Buffer };
const ours = querystring as unknown as Module;
const theirs = node as unknown as Module;

t.test('queries are what Node makes of them', async (t) => {
  const attempts: Record<string, (module: Module) => unknown> = {};
  const texts = [
    '',
    'a=b',
    'a=b&a=c&a=d',
    'a&b=',
    '=x',
    '&&a=1&&',
    'a=b=c',
    'a%20b=c+d',
    '%zz=%E0%A4%A',
    'a=%F0%9F%98%80',
  ];
  for (const text of [...texts, '__proto__=1&a=2', 'x=1;y:2', 'a%=1', '%', '+=+', 'ü=ä', 'a=%C3%A4%zz']) {
    attempts[text] = (q) => [
      ...[q.parse(text), q.parse(text, ';', ':'), q.parse(text, undefined, undefined, { maxKeys: 1 })],
      ...[q.unescape(text), q.escape(text), q.unescapeBuffer(text).toString('hex')],
      q.parse(text, undefined, undefined, {
        decodeURIComponent(part) {
          if (part.includes('b')) throw new Error('broken');
          return `<${part}>`;
        },
      }),
    ];
  }
  const values = [
    { a: 1, b: 'x y', c: [1, '2', true, null], d: null, e: undefined, f: {}, g: Number.NaN, h: 10n, i: false },
    { ü: "!'()*~-._", list: [], inf: Number.POSITIVE_INFINITY, date: new Date(0) },
    ...[null, 5, 'text', [], ['x', 'y'], { '': '' }],
  ] as never[];
  for (const [index, value] of values.entries()) {
    attempts[`value ${index}`] = (q) => [
      ...[q.stringify(value), q.stringify(value, ';', ':')],
      q.stringify(value, undefined, undefined, { encodeURIComponent: (part) => `<${part}>` }),
    ];
  }
  await sameAsNode(t, ours, theirs, attempts);
});

t.test('what has no encoding throws', (t) => {
  t.throws(() => ours.escape('\ud800'), { code: 'ERR_INVALID_URI', name: 'URIError' });
  t.end();
});
