import { PublicKey } from '@solana/web3.js';
import t from 'tap';
import { TOKEN_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { metadataAddress, symbolOf } from '../../../../../../src/chains/solana/tokens/metadata.ts';
import { EXTENSIONS, type Mint } from '../../../../../../src/chains/solana/tokens/mint.ts';
import { keypair } from '../../../../../support/solana-messages.ts';

const METADATA_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';
const MINT = keypair(3).publicKey;

function sized(text: string, length = Buffer.byteLength(text)): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(length);
  return Buffer.concat([head, Buffer.from(text.padEnd(length, '\0'))]);
}

/** Metadata as Metaplex writes it: padded with zeros. */
const metaplex = (symbol: string, owner = METADATA_PROGRAM) => ({
  lamports: 1n,
  owner,
  isExecutable: false,
  data: Buffer.concat([Buffer.alloc(65, 4), sized('A token', 32), sized(symbol, 10), sized('', 200)]),
});

const mint = (extension?: Buffer): Mint => ({
  ...{
    address: MINT.toBase58(),
    program: TOKEN_PROGRAM,
    decimals: 6,
    fees: [],
    hasHook: false,
    permanentDelegate: null,
    accountSize: 165,
  },
  extensions: new Map(extension === undefined ? [] : [[EXTENSIONS.metadata, extension]]),
});

t.test('Metaplex keeps it where the public client finds it', async (t) => {
  const program = new PublicKey(METADATA_PROGRAM);
  const seeds = [Buffer.from('metadata'), program.toBuffer(), MINT.toBuffer()];
  t.equal(metadataAddress(MINT.toBase58()), PublicKey.findProgramAddressSync(seeds, program)[0].toBase58());
});

t.test('a symbol is Metaplex’s, or the token’s own before it', async (t) => {
  t.equal(symbolOf(mint(), metaplex('USD')), 'USD');
  const own = Buffer.concat([Buffer.alloc(64, 1), sized('Euro'), sized('EUR'), sized('https://x')]);
  t.equal(symbolOf(mint(own), metaplex('USD')), 'EUR');
  t.equal(symbolOf(mint(own), null), 'EUR');
});

t.test('what anybody may have written is no symbol', async (t) => {
  t.equal(symbolOf(mint(), null), undefined);
  t.equal(symbolOf(mint(), metaplex('')), undefined);
  t.equal(symbolOf(mint(), metaplex('USD', TOKEN_PROGRAM)), undefined);
  t.equal(symbolOf(mint(), metaplex('a\u001b[2J')), undefined);
  t.equal(symbolOf(mint(), { ...metaplex('x'), data: Buffer.alloc(66) }), undefined);
  const long = Buffer.concat([Buffer.alloc(65), sized('A'), sized('x'.repeat(33))]);
  t.equal(symbolOf(mint(), { ...metaplex('x'), data: long }), undefined);
  const cut = Buffer.concat([Buffer.alloc(65), sized('A'), sized('USD').subarray(0, 5)]);
  t.equal(symbolOf(mint(), { ...metaplex('x'), data: cut }), undefined);
});
