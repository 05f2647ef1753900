import t from 'tap';
import { parseNetworkEntry } from '../../../../../src/config/networks/network-entry.ts';
import { type NetworkUse, resolveNetworks } from '../../../../../src/config/networks/networks.ts';
import { Findings, textOf } from '../../../../../src/config/problems.ts';
import { chains } from '../../../../support/config-folder.ts';

function resolve(values: unknown[], uses: NetworkUse[] = []) {
  const findings = new Findings();
  const entries = values.flatMap(
    (value, index) => parseNetworkEntry(value, { file: `${index}.json`, path: '' }, findings) ?? [],
  );
  const networks = resolveNetworks(entries, chains, uses, findings);
  const find = (type: string, name: string) => networks.find((one) => one.type === type && one.name === name);
  return { networks, find, problems: findings.problems.map(textOf) };
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
  t.match(find('stellar', 'mainnet'), { rpcUrls: [{ url: 'https://mine.test' }], settings: { passphrase: 'Public' } });
  t.match(find('evm', 'mainnet'), { rpcUrls: [{ url: 'https://one.test' }] });
  t.end();
});

t.test('an unknown name takes the type of its parent, of the relayers that name it, or EVM', (t) => {
  const entry = { network: 'local', rpc_urls: mine };
  t.ok(resolve([entry]).find('evm', 'local'));
  t.ok(resolve([entry], [{ network: 'local', networkType: 'stellar' }]).find('stellar', 'local'));
  t.ok(resolve([{ ...entry, from: 'sepolia' }], [{ network: 'local', networkType: 'stellar' }]).find('evm', 'local'));
  const both: NetworkUse[] = [
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
