import t from 'tap';
import { pluginEntrySchema } from '../../../../src/domain/plugin.ts';
import { hostGrantsOf } from '../../../../src/plugin-host/host-grants.ts';
import { hostRefusal, networkUse } from '../../../../src/plugin-host/network-use.ts';

const bundle = (...modules: [file: string, text: string][]) =>
  `var __isolayer_plugin__ = (() => {\n${modules.map(([file, text]) => `  // ${file}\n  ${text}\n`).join('\n')}})();`;

t.test("the author's own URLs are found, those of packages are not", async (t) => {
  const code = bundle(
    ['node_modules/ethers/lib.js', 'const docs = "https://links.ethers.org/v5";'],
    ['p.ts', `const base = 'https://api.example.com/v1'; await fetch(base); fetch(\`http://localhost:3000/\${id}\`);`],
    ['lib/x.ts', 'const again = "https://API.example.com"; const odd = "https://"; const text = "no http://";'],
  );
  t.strictSame(networkUse(code), { fetches: true, hosts: ['api.example.com', 'localhost:3000'] });
  t.strictSame(networkUse(code.replaceAll('fetch(', 'get(')), { fetches: false, hosts: [] });
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
