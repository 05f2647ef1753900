import t from 'tap';
import type { NetworkEntry } from '../../../../../src/config/networks/network-entry.ts';
import { inherit } from '../../../../../src/config/networks/network-inheritance.ts';
import { Findings, textOf } from '../../../../../src/config/problems.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';

const at = { file: 'f', path: '' };
const urls = (host: string) => [{ url: `https://${host}.test`, weight: 100 }];

function entry(name: string, from?: string, fields: JsonObject = {}, host?: string): [string, NetworkEntry] {
  return [name, { at, name, type: 'evm', from, rpcUrls: host === undefined ? undefined : urls(host), fields }];
}

function run(entries: [string, NetworkEntry][], others = new Map()) {
  const findings = new Findings();
  return { networks: inherit(new Map(entries), others, findings), problems: findings.problems.map(textOf) };
}

t.test('the child wins, lists of endpoints replace, tags and features unite', (t) => {
  const { networks, problems } = run([
    entry('child', 'parent', {
      chain_id: 2,
      tags: ['b', 'a'],
      explorer_urls: ['c'],
      gas_price_cache: { enabled: true },
    }),
    entry('parent', 'grand', { tags: ['a'], gas_price_cache: { stale_after_ms: 1 } }, 'p'),
    entry('grand', undefined, { chain_id: 1, symbol: 'G', features: ['eip1559'], explorer_urls: ['g'] }, 'g'),
  ]);
  t.strictSame(problems, []);
  t.strictSame(networks.get('child'), {
    rpcUrls: urls('p'),
    fields: {
      chain_id: 2,
      symbol: 'G',
      features: ['eip1559'],
      explorer_urls: ['c'],
      tags: ['a', 'b'],
      gas_price_cache: { enabled: true },
    },
  });
  t.end();
});

t.test('a parent may be one of the others, also under the same name', (t) => {
  const others = new Map([['known', { rpcUrls: urls('k'), fields: { chain_id: 9, symbol: 'K' } }]]);
  const { networks } = run([entry('mine', 'known', { chain_id: 3 }), entry('known', 'known', { symbol: 'N' })], others);
  t.strictSame(networks.get('known'), { rpcUrls: urls('k'), fields: { chain_id: 9, symbol: 'N' } });
  t.match(networks.get('mine'), { fields: { chain_id: 3, symbol: 'N' } }, 'the own entry comes before the built-in');
  t.end();
});

t.test('circles and strangers are problems', (t) => {
  const { problems } = run([entry('a', 'b'), entry('b', 'c'), entry('c', 'a'), entry('d', 'aa'), entry('e', 'e')]);
  t.ok(problems.includes('f: from: Circular inheritance detected: a -> b -> c -> a'));
  t.ok(problems.includes('f: from: there is no network "aa" of this type. Did you mean "a"?'));
  t.ok(problems.some((problem) => problem.startsWith('f: from: there is no network "e"')));
  t.end();
});
