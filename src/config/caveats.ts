import { z } from 'zod';
import { isObject } from '../domain/json/json.ts';
import { CAVEATS } from '../domain/plugin.ts';
import type { NamedForm } from '../domain/transaction/spending.ts';
import type { ChainSchemas } from './chain-schemas.ts';
import { type Place, pathOf } from './check.ts';
import type { Findings } from './problems.ts';

const texts = z.array(z.unknown()).catch([]);
const limited = z.object({ permissions: z.object({ relayers: z.record(z.string(), z.unknown()) }) });
const lists = z.object({ recipients: texts, selectors: texts }).partial();

/**
 * Checks the limits in a plugin's grants: the relayer's family must be able to tell spending, and must know the named
 * recipients and selectors.
 * @param families chain families by relayer id; relayers that are not declared are skipped
 */
export function checkCaveats(
  value: unknown,
  { file, path }: Place,
  families: ReadonlyMap<string, ChainSchemas | undefined>,
  findings: Findings,
): void {
  const relayers = limited.safeParse(value).data?.permissions.relayers ?? {};
  for (const [id, permission] of Object.entries(relayers)) {
    const family = families.get(id);
    const given = CAVEATS.filter((key) => isObject(permission) && permission[key] !== undefined);
    if (family === undefined || given.length === 0) continue;
    const at = pathOf(path, ['permissions', 'relayers', id]);
    const { spending, type } = family;
    if (spending === undefined) {
      const message = `what is sent through relayers of type ${type} cannot be limited in this version`;
      findings.problem(file, at, message, `Leave out ${given.join(', ')}, or do not grant "send"`);
      continue;
    }
    const { recipients = [], selectors = [] } = lists.safeParse(permission).data ?? {};
    const faults = (key: string, named: readonly unknown[], { read, expected }: NamedForm) => {
      for (const [index, text] of named.entries()) {
        if (typeof text !== 'string' || read(text) !== undefined) continue;
        findings.problem(file, pathOf(at, [key, index]), `expected ${expected}, not ${JSON.stringify(text)}`);
      }
    };
    faults('recipients', recipients, spending.recipient);
    faults('selectors', selectors, spending.selector);
  }
}
