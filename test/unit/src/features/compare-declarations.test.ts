import t from 'tap';
import {
  comparableDeclaration,
  isDeclaredAsBefore,
  valueDigest,
} from '../../../../src/features/compare-declarations.ts';

t.test('two declarations say the same under a key, or not', (t) => {
  t.ok(isDeclaredAsBefore('a', { a: 1, b: 2 }, { a: 1 }));
  t.ok(
    isDeclaredAsBefore('a', { a: { x: 1, y: [{ p: 1, q: 2 }] } }, { a: { y: [{ q: 2, p: 1 }], x: 1 } }),
    'the order of keys',
  );
  t.ok(isDeclaredAsBefore('a', {}, {}), 'both nothing');
  t.ok(isDeclaredAsBefore('a', {}, null));
  t.notOk(isDeclaredAsBefore('a', { a: 1 }, { a: '1' }));
  t.notOk(isDeclaredAsBefore('a', { a: null }, {}), 'null is said, nothing is not');
  t.notOk(isDeclaredAsBefore('a', { a: [1, 2] }, { a: [2, 1] }));
  t.notOk(isDeclaredAsBefore('a', { a: 1 }, null));
  t.end();
});

t.test('a digest is of the value, whatever the order of its keys', (t) => {
  t.equal(valueDigest({ a: 1, b: { c: 2, d: 3 } }), valueDigest({ b: { d: 3, c: 2 }, a: 1 }));
  t.not(valueDigest({ a: 1 }), valueDigest({ a: '1' }));
  t.match(valueDigest(null), /^[0-9a-f]{64}$/);
  t.end();
});

t.test('of what may hold credentials only a digest is kept, by which a change still shows', (t) => {
  const declared = { name: 'a', custom_rpc_urls: [{ url: 'https://rpc.example/canary', weight: 1 }] };
  const kept = comparableDeclaration(declared, ['custom_rpc_urls']);
  t.notMatch(JSON.stringify(kept), 'canary');
  t.match(kept, { name: 'a' });
  const same = { custom_rpc_urls: [{ weight: 1, url: 'https://rpc.example/canary' }] };
  const changed = { custom_rpc_urls: [{ url: 'https://rpc.example/other', weight: 1 }] };
  t.ok(isDeclaredAsBefore('custom_rpc_urls', kept, comparableDeclaration(same, ['custom_rpc_urls'])));
  t.notOk(isDeclaredAsBefore('custom_rpc_urls', kept, comparableDeclaration(changed, ['custom_rpc_urls'])));
  t.strictSame(comparableDeclaration({ name: 'a' }, ['custom_rpc_urls']), { name: 'a' }, 'nothing stays nothing');
  t.end();
});
