// An ordinary run draws the same cases each time, so that a build is not red by chance. `FUZZ_SEED` draws others, and so does
// `FUZZ_RUNS`, which asks for more of them. A case that was found to fail is kept in its test, among its examples.
import fc from 'fast-check';

const { FUZZ_RUNS, FUZZ_SEED } = process.env;
if (FUZZ_SEED !== undefined || FUZZ_RUNS === undefined) fc.configureGlobal({ seed: Number(FUZZ_SEED ?? 20_260_101) });
