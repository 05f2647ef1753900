import type { PackageCase } from './package-case.ts';

const KEY = '0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318';

/** Packages for chains. */
export const chains: PackageCase[] = [
  {
    name: 'ethers',
    imports: "import { AbiCoder, HDNodeWallet, Interface, keccak256, parseEther, toUtf8Bytes, Wallet } from 'ethers';",
    body: `const wallet = new Wallet('${KEY}'); const abi = new Interface(['function transfer(address to, uint256 amount)']);
      return [wallet.address, keccak256(toUtf8Bytes('a')), parseEther('1.5'), await wallet.signMessage('hi'),
        abi.encodeFunctionData('transfer', [wallet.address, 5n]), AbiCoder.defaultAbiCoder().encode(['uint8'], [3]),
        await wallet.signTransaction({ to: wallet.address, value: 1n, nonce: 1, gasLimit: 21000n, gasPrice: 1n, chainId: 1 }),
        HDNodeWallet.fromPhrase('test test test test test test test test test test test junk').address];`,
  },
  {
    name: 'viem',
    imports: `import { encodeFunctionData, hashTypedData, keccak256, parseAbi, parseUnits, toHex, verifyMessage } from 'viem';
      import { privateKeyToAccount } from 'viem/accounts';
      import { mainnet } from 'viem/chains';`,
    body: `const account = privateKeyToAccount('${KEY}'); const message = 'hi'; const signature = await account.signMessage({ message });
      const typed = { domain: { name: 'x', chainId: 1 }, types: { A: [{ name: 'b', type: 'uint256' }] }, primaryType: 'A', message: { b: 1n } };
      return [account.address, keccak256(toHex('a')), parseUnits('1.5', 6), signature, await verifyMessage({ address: account.address, message, signature }),
        encodeFunctionData({ abi: parseAbi(['function a(uint256)']), args: [1n] }), hashTypedData(typed), mainnet.id,
        await account.signTransaction({ to: account.address, value: 1n, chainId: 1, type: 'eip1559', maxFeePerGas: 5n, gas: 21000n, nonce: 0 })];`,
  },
  {
    name: '@solana/web3.js',
    imports: "import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';",
    body: `const key = Keypair.fromSeed(new Uint8Array(32).fill(7)); const to = new PublicKey('11111111111111111111111111111112');
      const tx = new Transaction({ feePayer: key.publicKey, recentBlockhash: to.toBase58() }).add(SystemProgram.transfer({ fromPubkey: key.publicKey, toPubkey: to, lamports: 5 }));
      tx.sign(key); return [key.publicKey.toBase58(), tx.serialize().toString('base64'), PublicKey.findProgramAddressSync([Buffer.from('a')], to)[1]];`,
  },
  {
    name: '@solana/kit',
    imports:
      "import { address, getAddressEncoder, getBase58Codec, getU64Codec, lamports, createKeyPairFromPrivateKeyBytes, getAddressFromPublicKey, signBytes } from '@solana/kit';",
    body: `const pair = await createKeyPairFromPrivateKeyBytes(new Uint8Array(32).fill(7)); const own = await getAddressFromPublicKey(pair.publicKey);
      return [own, [...getAddressEncoder().encode(address(own))], getBase58Codec().encode('abc'), getU64Codec().encode(5n), lamports(7n), await signBytes(pair.privateKey, new Uint8Array([1]))];`,
  },
  {
    name: '@solana/spl-token',
    imports: `import { createTransferCheckedInstruction, getAssociatedTokenAddressSync, TOKEN_PROGRAM_ID } from '@solana/spl-token';
      import { Keypair } from '@solana/web3.js';`,
    body: `const [a, b] = [1, 2].map((n) => Keypair.fromSeed(new Uint8Array(32).fill(n)).publicKey);
      return [getAssociatedTokenAddressSync(a, b).toBase58(), TOKEN_PROGRAM_ID.toBase58(), createTransferCheckedInstruction(a, b, a, b, 5n, 6).data.toString('hex')];`,
  },
  {
    name: '@stellar/stellar-sdk',
    imports:
      "import { Account, Asset, Keypair, nativeToScVal, Networks, Operation, scValToNative, TransactionBuilder } from '@stellar/stellar-sdk';",
    body: `const key = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 7)); const account = new Account(key.publicKey(), '1');
      const tx = new TransactionBuilder(account, { fee: '100', networkPassphrase: Networks.TESTNET }).addOperation(Operation.payment({ destination: key.publicKey(), asset: Asset.native(), amount: '5' })).setTimebounds(0, 9999999999).build();
      tx.sign(key); return [key.publicKey(), tx.toXDR(), Buffer.from(tx.hash()).toString('hex'), scValToNative(nativeToScVal({ a: 1n }))];`,
  },
];

/** Keys, hashes and encodings. */
export const encodings: PackageCase[] = [
  {
    name: '@noble/curves',
    imports: "import { secp256k1 } from '@noble/curves/secp256k1'; import { ed25519 } from '@noble/curves/ed25519';",
    body: `const key = new Uint8Array(32).fill(7); const hash = new Uint8Array(32).fill(9); const made = secp256k1.sign(hash, key);
      return [secp256k1.getPublicKey(key), made.toCompactHex(), secp256k1.verify(made, hash, secp256k1.getPublicKey(key)), ed25519.sign(hash, key)];`,
  },
  {
    name: '@noble/hashes',
    imports:
      "import { sha256 } from '@noble/hashes/sha2.js'; import { keccak_256 } from '@noble/hashes/sha3.js'; import { pbkdf2 } from '@noble/hashes/pbkdf2.js';",
    body: "const a = new TextEncoder().encode('a'); return [sha256(a), keccak_256(a), pbkdf2(sha256, 'p', 's', { c: 10, dkLen: 32 })];",
  },
  {
    name: '@noble/ciphers',
    imports:
      "import { gcm } from '@noble/ciphers/aes.js'; import { chacha20poly1305 } from '@noble/ciphers/chacha.js';",
    body: `const key = new Uint8Array(32).fill(7), nonce = new Uint8Array(12), data = new Uint8Array([1, 2, 3]); const sealed = gcm(key, nonce).encrypt(data);
      return [sealed, gcm(key, nonce).decrypt(sealed), chacha20poly1305(key, nonce).encrypt(data)];`,
  },
  {
    name: '@scure/base',
    imports: "import { base32, base58, base64url, bech32 } from '@scure/base';",
    body: "const bytes = new Uint8Array([1, 2, 3, 255]); return [base32, base58, base64url].map((one) => one.encode(bytes)).concat(bech32.encode('a', bech32.toWords(bytes)));",
  },
  {
    name: '@scure/bip32',
    imports: "import { HDKey } from '@scure/bip32';",
    body: "const key = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive(\"m/44'/60'/0'/0/0\"); return [key.publicExtendedKey, key.privateKey];",
  },
  {
    name: '@scure/bip39',
    imports:
      "import { entropyToMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'; import { wordlist } from '@scure/bip39/wordlists/english.js';",
    body: 'const words = entropyToMnemonic(new Uint8Array(16), wordlist); return [words, validateMnemonic(words, wordlist), mnemonicToSeedSync(words)];',
  },
  {
    name: 'bs58',
    imports: "import bs58 from 'bs58';",
    body: "return [bs58.encode(Buffer.from('hello')), Buffer.from(bs58.decode('Cn8eVZg')).toString()];",
  },
  {
    name: 'tweetnacl',
    imports: "import nacl from 'tweetnacl';",
    body: `const pair = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7)); const box = nacl.secretbox(new Uint8Array([1]), new Uint8Array(24), new Uint8Array(32));
      return [pair.publicKey, nacl.sign.detached(new Uint8Array([1]), pair.secretKey), box, nacl.randomBytes(8).length];`,
  },
  {
    name: 'elliptic',
    imports: "import elliptic from 'elliptic';",
    body: "const key = new elliptic.ec('secp256k1').keyFromPrivate('07'.repeat(32)); return [key.getPublic('hex'), key.sign('09'.repeat(32)).toDER('hex')];",
  },
  {
    name: 'bn.js',
    imports: "import BN from 'bn.js';",
    body: "return [new BN('ff', 16).pow(new BN(20)).toString(), new BN(5).toArrayLike(Buffer, 'be', 4)];",
  },
  {
    name: 'bignumber.js',
    imports: "import BigNumber from 'bignumber.js';",
    body: "return [new BigNumber('0.1').plus('0.2').toFixed(), new BigNumber(2).pow(200).toString(16)];",
  },
  {
    name: 'big.js',
    imports: "import Big from 'big.js';",
    body: "return [Big('0.1').plus('0.2').toString(), Big(1).div(3).toFixed(30)];",
  },
  {
    name: 'decimal.js',
    imports: "import Decimal from 'decimal.js';",
    body: 'return [new Decimal(2).sqrt().toString(), Decimal.exp(1).toFixed(15)];',
  },
  {
    name: 'js-sha3',
    imports: "import sha3 from 'js-sha3';",
    body: "return [sha3.keccak256('a'), sha3.sha3_512('b'), sha3.shake128('c', 64)];",
  },
  {
    name: 'ethereum-cryptography',
    imports:
      "import { keccak256 } from 'ethereum-cryptography/keccak.js'; import { scryptSync } from 'ethereum-cryptography/scrypt.js'; import { utf8ToBytes } from 'ethereum-cryptography/utils.js';",
    body: "return [keccak256(utf8ToBytes('a')), scryptSync(utf8ToBytes('p'), utf8ToBytes('s'), 16, 1, 1, 16)];",
  },
  {
    name: 'merkletreejs',
    imports: "import { MerkleTree } from 'merkletreejs'; import sha3 from 'js-sha3';",
    body: "const hash = (data) => Buffer.from(sha3.keccak256(data), 'hex'); const tree = new MerkleTree(['a', 'b', 'c'].map(hash), hash, { sortPairs: true }); return [tree.getHexRoot(), tree.getHexProof(hash('a')), tree.verify(tree.getProof(hash('a')), hash('a'), tree.getRoot())];",
  },
  {
    name: 'rlp',
    imports: "import RLP from 'rlp';",
    body: "const rlp = RLP.default ?? RLP; return [rlp.encode(['dog', [1, 'cat']]), rlp.decode('0xc88363617483646f67')];",
  },
  {
    name: 'bech32',
    imports: "import { bech32, bech32m } from 'bech32';",
    body: "const words = bech32.toWords(Buffer.from('hi')); return [bech32.encode('bc', words), bech32m.encode('bc', words), bech32.decode(bech32.encode('bc', words)).words];",
  },
  {
    name: 'borsh',
    imports: "import { deserialize, serialize } from 'borsh';",
    body: "class A { constructor(fields) { Object.assign(this, fields); } } const schema = new Map([[A, { kind: 'struct', fields: [['x', 'u8'], ['s', 'string']] }]]); const bytes = serialize(schema, new A({ x: 5, s: 'hi' })); return [bytes, deserialize(schema, A, Buffer.from(bytes))];",
  },
  {
    name: 'buffer',
    imports: "import { Buffer as Own } from 'buffer/index.js';",
    body: "return [Own.from('a€').toString('base64'), Own.concat([Own.from('a'), Own.alloc(2, 'b')]).toString(), Own.from([1, 2]).readUInt16BE(0)];",
  },
];
