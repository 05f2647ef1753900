import type { Test } from 'tap';
import type { SoakOptions, SoakResult } from '../../soak/payments/run.ts';
import { isKept } from '../../soak/payments/verdict.ts';
import { describeRun } from '../../soak/report.ts';

/** A soak that every test run can afford. */
export function smallSoak(t: Test, transactions: number): Omit<SoakOptions, 'chain'> {
  return {
    transactions,
    database: 'sqlite',
    seed: 4,
    patienceMs: 60_000,
    calm: true,
    say: (text) => t.comment(text),
  };
}

/** The promises were kept, and most of the requests had their effect. */
export function assertKept(t: Test, { verdict, lines, faults }: SoakResult, transactions: number): void {
  t.ok(isKept(verdict), describeRun(lines, verdict));
  t.same(faults, []);
  t.ok(verdict.accepted >= transactions - 5, `${verdict.accepted} were accepted`);
  t.ok(verdict.confirmed > verdict.accepted / 2, `${verdict.confirmed} were confirmed`);
}
