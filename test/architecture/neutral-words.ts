import type { Rule } from './rule.ts';

const WORDS = new Set(['evm', 'gas', 'gwei', 'nonce', 'nonces', 'wei']);

/** Files outside `src/chains` that may use the words of a family. */
const SPEAKERS = [
  /** The API's clients read the fields of all families. */
  'src/client/',
  /** Each example in the API's description belongs to a family. */
  'src/http/openapi/',
  /** The path `by-nonce` and its errors are named as in the reference. */
  'src/http/access/needs.ts',
  'src/http/routes/lifecycle.ts',
  'src/services/lifecycle.ts',
  'src/domain/errors.ts',
  /** The names of the families in `network_type`. */
  'src/domain/network-type.ts',
  /** Coinbase's API names its accounts like this. */
  'src/signers/cdp/',
  /** The development chain and the fake relayers belong to a family. */
  'src/cli/dev/dev.ts',
  'src/cli/plugin/kit.d.ts',
  'src/cli/testing/',
];

/** Finds words of a single family in code above the chains. Such code uses names that fit all families. */
export const neutralWords: Rule = (files) =>
  files
    .filter(({ path }) => path.startsWith('src/') && !path.startsWith('src/chains/') && path.endsWith('.ts'))
    .filter(({ path }) => !SPEAKERS.some((place) => path.startsWith(place)))
    .flatMap(({ path, text }) => {
      const said = new Set(wordsOf(text).filter((word) => WORDS.has(word)));
      return said.size === 0 ? [] : [`${path} says ${[...said].join(', ')}; use a word that fits every family.`];
    });

/** The words in lower case. Splits `gasPrice`, `gas_price` and `GAS_PRICE`. */
function wordsOf(text: string): string[] {
  return (text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase());
}
