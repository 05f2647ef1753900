import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../../src/domain/json/json.ts';
import {
  type NetworkEntry,
  parseNetworkEntry,
  readNetworkEntries,
} from '../../../../src/settings/networks/network-files.ts';
import { inheritNetworks, type NetworkReference, resolveNetworks } from '../../../../src/settings/networks/networks.ts';
import { ConfigurationFindings, problemText } from '../../../../src/settings/problems.ts';
import { httpUrlSchema, rpcUrlsSchema } from '../../../../src/settings/schema.ts';
import { chains } from '../../../support/config-folder.ts';

t.test('networks', async (t) => {
  function resolve(values: unknown[], uses: NetworkReference[] = []) {
    const findings = new ConfigurationFindings();
    const entries = values.flatMap(
      (value, index) => parseNetworkEntry(value, { file: `${index}.json`, path: '' }, findings) ?? [],
    );
    const networks = resolveNetworks(entries, chains, uses, findings);
    const find = (type: string, name: string) => networks.find((one) => one.type === type && one.name === name);
    return { networks, find, problems: findings.problems.map(problemText) };
  }
  const mine = ['https://mine.test'];

  t.test('the built-ins are there without any file, with what they inherit', (t) => {
    const { networks, find, problems } = resolve([]);
    t.strictSame(problems, []);
    t.equal(networks.length, 3);
    t.strictSame(find('evm', 'sepolia'), {
      type: 'evm',
      name: 'sepolia',
      rpcUrls: [{ url: 'https://two.test', weight: 100 }],
      settings: { chain_id: 11155111, features: ['eip1559'], tags: ['first', 'second'] },
      isBuiltIn: true,
    });
    t.end();
  });

  t.test('a known name with nothing but URLs keeps everything else', (t) => {
    const { networks, find, problems } = resolve([{ network: 'sepolia', rpc_urls: mine }]);
    t.strictSame(problems, []);
    t.equal(networks.length, 3);
    t.match(find('evm', 'sepolia'), {
      rpcUrls: [{ url: 'https://mine.test' }],
      settings: { chain_id: 11155111 },
      isBuiltIn: false,
    });
    t.end();
  });

  t.test('a full entry replaces a built-in of its type and name', (t) => {
    const { find } = resolve([{ type: 'evm', network: 'sepolia', rpc_urls: mine, chain_id: 5 }]);
    t.strictSame(find('evm', 'sepolia')?.settings, { chain_id: 5 });
    t.end();
  });

  t.test('a name known in several types needs one', (t) => {
    t.match(resolve([{ network: 'mainnet', rpc_urls: mine }]).problems, [
      '0.json: type: "mainnet" may be of type evm and stellar. Say which with "type"',
    ]);
    const { find, problems } = resolve([{ network: 'mainnet', type: 'stellar', rpc_urls: mine }]);
    t.strictSame(problems, []);
    t.match(find('stellar', 'mainnet'), {
      rpcUrls: [{ url: 'https://mine.test' }],
      settings: { passphrase: 'Public' },
    });
    t.match(find('evm', 'mainnet'), { rpcUrls: [{ url: 'https://one.test' }] });
    t.end();
  });

  t.test('an unknown name takes the type of its parent, of the relayers that name it, or EVM', (t) => {
    const entry = { network: 'local', rpc_urls: mine };
    t.ok(resolve([entry]).find('evm', 'local'));
    t.ok(resolve([entry], [{ network: 'local', networkType: 'stellar' }]).find('stellar', 'local'));
    t.ok(resolve([{ ...entry, from: 'sepolia' }], [{ network: 'local', networkType: 'stellar' }]).find('evm', 'local'));
    const both: NetworkReference[] = [
      { network: 'local', networkType: 'stellar' },
      { network: 'local', networkType: 'evm' },
    ];
    t.match(resolve([entry], both).problems, [/may be of type stellar and evm/]);
    t.match(resolve([{ ...entry, type: 'solana' }]).problems, [/networks of type solana are not available/]);
    t.end();
  });

  t.test('what cannot be a network is named where it stands', (t) => {
    const { problems } = resolve([
      { network: 'a', rpc_urls: mine },
      { network: 'a', rpc_urls: mine },
      { network: 'b' },
      { network: 'c', rpc_urls: mine, chainid: 1 },
      { network: 'd', from: 'sepolia', chain_id: 1 },
      { network: 'e', rpc_urls: mine, rpc_url: mine },
    ]);
    t.strictSame(problems.toSorted(), [
      '1.json: "a" is already declared in 0.json',
      '2.json: rpc_urls: missing: where the network is reached, as an array of URLs',
      '3.json: chainid: unknown key. Did you mean "chain_id"?',
      '5.json: rpc_url: unknown key. Did you mean "rpc_urls"?',
    ]);
    t.end();
  });
});

t.test('network files', async (t) => {
  const short = JSON.stringify({ network: 'one', rpc_urls: ['https://a.test'] });
  const long = JSON.stringify({
    networks: [{ network: 'two', rpc_urls: null }, { network: 'three' }],
    note: 'ignored',
  });

  async function read(t: Test, folder: Parameters<Test['testdir']>[0], declared?: unknown) {
    const findings = new ConfigurationFindings();
    const source = { declared, file: 'config.json', defaultFolder: 'networks', cwd: t.testdir(folder) };
    const entries = await readNetworkEntries(source, findings);
    return {
      places: entries.map(({ name, at }) => `${name} in ${at.file} ${at.path}`.trimEnd()),
      problems: findings.problems.map(problemText),
    };
  }

  t.test('every JSON file of the folder counts, in both forms, in the order of names', async (t) => {
    const networks = {
      'b.json': short,
      'a.JSON': long,
      'readme.md': 'x',
      '.hidden': 'x',
      deeper: { 'c.json': 'not read' },
    };
    for (const declared of [undefined, null, '']) {
      t.strictSame(await read(t, { networks }, declared), {
        places: [
          `two in ${join('networks', 'a.JSON')} networks[0]`,
          `three in ${join('networks', 'a.JSON')} networks[1]`,
          `one in ${join('networks', 'b.json')}`,
        ],
        problems: [],
      });
    }
  });

  t.test('an array or another folder may be declared instead', async (t) => {
    const networks = { 'b.json': short };
    t.strictSame((await read(t, { networks }, [{ network: 'inline', rpc_urls: ['https://a.test'] }])).places, [
      'inline in config.json networks[0]',
    ]);
    t.strictSame((await read(t, { other: networks }, 'other')).places, [`one in ${join('other', 'b.json')}`]);
    t.strictSame((await read(t, { other: networks }, './other/')).places, [`one in ${join('other', 'b.json')}`]);
  });

  t.test('no folder is fine unless it was named', async (t) => {
    t.strictSame(await read(t, {}), { places: [], problems: [] });
    t.match((await read(t, {}, 'elsewhere')).problems, ['elsewhere: there is no such folder. Name a folder']);
    t.match((await read(t, { file: 'x' }, 'file')).problems, [/^file: cannot be read as a folder \(ENOTDIR\)/]);
    t.match((await read(t, {}, 7)).problems, [
      'config.json: networks: must be an array of networks or the path of a folder',
    ]);
  });

  t.test('a bad file is named, and so is a bad entry', async (t) => {
    const { problems } = await read(t, {
      networks: { 'a.json': '{', 'b.json': '{"networks":{}}', 'c.json': '[]', 'd.json': '{"networks":[{}]}' },
    });
    t.match(problems.toSorted(), [
      /a\.json: is not valid JSON/,
      /b\.json: networks: must be an array/,
      /c\.json: expected an object/,
      /d\.json: networks\[0\]\.network: missing/,
    ]);
  });
});

t.test('network inheritance', async (t) => {
  const at = { file: 'f', path: '' };
  const urls = (host: string) => [{ url: `https://${host}.test`, weight: 100 }];

  function entry(name: string, from?: string, fields: JsonObject = {}, host?: string): [string, NetworkEntry] {
    return [name, { at, name, type: 'evm', from, rpcUrls: host === undefined ? undefined : urls(host), fields }];
  }

  function run(entries: [string, NetworkEntry][], others = new Map()) {
    const findings = new ConfigurationFindings();
    return {
      networks: inheritNetworks(new Map(entries), others, findings),
      problems: findings.problems.map(problemText),
    };
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
    const { networks } = run(
      [entry('mine', 'known', { chain_id: 3 }), entry('known', 'known', { symbol: 'N' })],
      others,
    );
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
});

t.test('a list may mix both forms', (t) => {
  t.strictSame(
    rpcUrlsSchema.parse(['https://a.test/key', { url: 'http://127.0.0.1:8545', weight: 0 }, { url: 'https://b.test' }]),
    [
      { url: 'https://a.test/key', weight: 100 },
      { url: 'http://127.0.0.1:8545', weight: 0 },
      { url: 'https://b.test', weight: 100 },
    ],
  );
  t.end();
});

t.test('what cannot be an endpoint is refused, without repeating it', (t) => {
  const refused = [
    [],
    'https://a.test',
    [7],
    ['ws://a.test'],
    ['a.test'],
    [''],
    ['https://'],
    [{ url: 'https://a.test', weight: 101 }],
    [{ url: 'https://a.test', weight: -1 }],
    [{ url: 'https://a.test', weight: 1.5 }],
    [{ url: 'https://a.test', wieght: 1 }],
    [{ url: 'https://a.test', weight: 0 }],
    [{ weight: 1 }],
  ];
  for (const urls of refused) t.notOk(rpcUrlsSchema.safeParse(urls).success, JSON.stringify(urls));
  t.notMatch(JSON.stringify(httpUrlSchema.safeParse('ftp://x/secret-key').error?.issues), /secret-key/);
  t.end();
});
