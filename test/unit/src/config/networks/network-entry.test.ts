import t from 'tap';
import { givesUrlsOnly, parseNetworkEntry } from '../../../../../src/config/networks/network-entry.ts';
import { Findings, textOf } from '../../../../../src/config/problems.ts';

const at = { file: 'f', path: '' };
const parse = (value: unknown, findings = new Findings()) => parseNetworkEntry(value, at, findings);

t.test('both forms are one object', (t) => {
  const short = parse({ network: 'n', rpc_urls: ['https://a.test'], $schema: 'x' });
  t.match(short, { name: 'n', type: undefined, from: undefined, rpcUrls: [{ weight: 100 }], fields: {} });
  t.ok(short !== undefined && givesUrlsOnly(short));
  const long = parse({ type: 'evm', network: 'n', from: 'm', rpc_urls: null, chain_id: 1, tags: ['a'] });
  t.match(long, { type: 'evm', from: 'm', rpcUrls: undefined, fields: { chain_id: 1, tags: ['a'] } });
  t.notOk(long !== undefined && givesUrlsOnly(long));
  t.end();
});

t.test('faults are at their place', (t) => {
  const findings = new Findings();
  t.equal(parse({ type: 'evn', rpc_urls: ['x'] }, findings), undefined);
  t.equal(parse('text', findings), undefined);
  t.match(findings.problems.map(textOf), [
    'f: network: missing: expected a string',
    /^f: type: /,
    'f: rpc_urls[0].url: must be an http or https URL',
    /^f: expected an object/,
  ]);
  t.end();
});
