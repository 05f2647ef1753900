import t from 'tap';
import { hostGrantsOf } from '../../../../../../../src/features/plugins/host/capabilities/grants.ts';
import {
  findFetchHosts,
  hostRefusal,
  MAX_SHOWN_NAMES,
} from '../../../../../../../src/features/plugins/host/catalog/fetch-hosts.ts';
import { pluginEntrySchema } from '../../../../../../../src/features/plugins/records/plugin.ts';

const bundle = (...modules: [file: string, text: string][]) =>
  `var __isolayer_plugin__ = (() => {\n${modules.map(([file, text]) => `  // ${file}\n  ${text}\n`).join('\n')}})();`;

t.test("the author's own URLs are found, those of packages are not", async (t) => {
  const code = bundle(
    ['node_modules/ethers/lib.js', 'const docs = "https://links.ethers.org/v5";'],
    ['p.ts', `const base = 'https://api.example.com/v1'; await fetch(base); fetch(\`http://localhost:3000/\${id}\`);`],
    ['lib/x.ts', 'const again = "https://API.example.com"; const odd = "https://"; const text = "no http://";'],
  );
  t.strictSame(findFetchHosts(code), { fetches: true, hosts: ['api.example.com', 'localhost:3000'] });
  t.strictSame(findFetchHosts(code.replaceAll('fetch(', 'get(')), { fetches: false, hosts: [] });
});

t.test('of very many hosts one more than is shown is found, whatever else the code spells out', async (t) => {
  const spelled = (hosts: string[]) =>
    bundle(['p.ts', `fetch([${hosts.map((host) => `'http://${host}'`).join()}][0]);`]);
  const many = Array.from({ length: 300_000 }, (_, index) => `h${index.toString(36)}`);
  t.equal(findFetchHosts(spelled(many)).hosts.length, MAX_SHOWN_NAMES + 1);
  t.strictSame(findFetchHosts(spelled(many.map((host) => `a.example/${host}`))).hosts, ['a.example']);
  t.strictSame(findFetchHosts(spelled(['x'.repeat(300_000), 'b.example?q', 'c.example:80#f'])).hosts, [
    'b.example',
    'c.example',
  ]);
  t.strictSame(findFetchHosts(spelled(many.map((host) => `%${host}`))).hosts, [], 'what is no host');
});

t.test('a host is missing when no method is granted for it, and the line to add is said', async (t) => {
  const { permissions } = pluginEntrySchema.parse({
    id: 'p',
    path: 'p.ts',
    permissions: { hosts: ['a.example', { host: 'b.example', methods: ['POST'] }] },
  });
  const grants = hostGrantsOf('p', permissions?.hosts);
  t.equal(hostRefusal('a.example', grants), undefined);
  t.equal(hostRefusal('b.example', grants), undefined);
  t.match(hostRefusal('c.example:3000', grants), /add "c\.example:3000" to permissions\.hosts/);
});
