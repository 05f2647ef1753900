/** The console's explorer links lead to transactions, for every built-in network. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { explorerLink } from '../../console/parts/explorer.ts';

interface Listed {
  explorer_urls?: string[];
}

for (const family of ['evm', 'solana', 'stellar']) {
  t.test(`links of ${family}`, (t) => {
    const file = join(import.meta.dirname, '..', '..', 'src', 'chains', family, 'configuration', 'networks.json');
    const networks = JSON.parse(readFileSync(file, 'utf8')) as Listed[];
    const explorers = networks.flatMap(({ explorer_urls: urls = [] }) => urls);
    t.ok(explorers.length > 0);
    for (const explorer of explorers) {
      const [given, made] = [new URL(explorer), new URL(explorerLink(explorer, 'HASH') ?? '')];
      t.equal(made.pathname, `${given.pathname === '/' ? '' : given.pathname}/tx/HASH`, explorer);
      t.strictSame([made.origin, made.search], [given.origin, given.search], explorer);
    }
    t.end();
  });
}

t.test('an explorer that nobody may be led to has no link', (t) => {
  t.equal(
    explorerLink('https://explorer.solana.com?cluster=devnet', 'SIG'),
    'https://explorer.solana.com/tx/SIG?cluster=devnet',
  );
  t.equal(explorerLink('https://a.example/x//', 'a/b'), 'https://a.example/x/tx/a%2Fb');
  for (const bad of [undefined, '', 'http://a.example', 'javascript:alert(1)', 'nowhere']) {
    t.equal(explorerLink(bad, 'SIG'), undefined);
  }
  t.equal(explorerLink('https://a.example', null), undefined);
  t.end();
});
