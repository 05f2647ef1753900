import * as node from 'node:url';
import t from 'tap';
import { create } from '../../../../../sandbox/guest/lazy/legacy-url.ts';
import { sameAsNode } from '../../../../support/same-as-node.ts';

t.test('the part makes the older half of the module, which says nothing of its age', async (t) => {
  const made = create() as unknown as typeof node & { punycode: { encode(text: string): string } };
  const lines = t.capture(console, 'warn');
  const plain = (url: object) => ({ ...url });
  await sameAsNode<typeof node>(t, made, node, {
    parse: (url) => plain(url.parse('http://u:p@a.b:1/c?d=e#f', true)),
    'parse again': (url) => {
      const parsed = url.parse('http://a');
      return url.parse(parsed as unknown as string) === parsed;
    },
    resolve: (url) => [url.resolve('http://a/b/c', '../d'), url.resolve('/a/b', 'c'), url.parse('/a/b').href],
    format: (url) => [
      url.format('http://A/b'),
      url.format({ host: 'a', pathname: 'b c' }),
      url.format(new URL('http://a/b#c'), { fragment: false }),
    ],
  });
  t.throws(() => made.parse(5 as never), { code: 'ERR_INVALID_ARG_TYPE' });
  const { resolveObject } = made as unknown as { resolveObject(from: string, to: string): { href: string } };
  t.equal(resolveObject('/a', 'b').href, '/b');
  t.equal(resolveObject('', 'b'), 'b');
  t.equal(made.punycode.encode('ü'), 'tda');
  t.strictSame(lines(), []);
});
