import { chains, encodings } from './chain-cases.ts';
import type { PackageCase } from './package-case.ts';
import { flow, requests, validation, values } from './plain-cases.ts';

/** Packages that plugins use, by purpose. */
export const PACKAGES: Readonly<Record<string, readonly PackageCase[]>> = {
  Chains: chains,
  'Keys, hashes and encodings': encodings,
  'Requests and formats': requests,
  Validation: validation,
  Values: values,
  'Flow, tokens and compression': flow,
};
