// SPDX-License-Identifier: BSD-2-Clause
// What stands where something should be, and is not.
import { Refusal } from "./answers.js";
import { clock } from "./format.js";

export function Failure({ error, at }) {
  const refused = error instanceof Refusal;
  return (
    <p class="notice wrong" role="alert">
      <span aria-hidden="true">! </span>
      {refused ? `The exporter says: ${error.message}.`
        : "The exporter does not answer."}
      {at ? ` What is shown is of ${clock(at)}.` : ""}
    </p>
  );
}

export function Loading({ what, lines = 3 }) {
  return (
    <div class="loading" role="status">
      <span class="unseen">Loading {what}</span>
      {Array.from({ length: lines }, (_, i) => <span key={i} class="bone" />)}
    </div>
  );
}

// `answer` of useAnswer(); shown around what `children` makes of its data. That
// the exporter does not answer at all is said once, above.
export function Answer({ answer, what, lines, children }) {
  const isTold = answer.data && !(answer.error instanceof Refusal);
  return (
    <>
      {answer.error && !isTold && <Failure error={answer.error} at={answer.data
        && answer.at} />}
      {answer.data ? children(answer.data)
        : !answer.error && <Loading what={what} lines={lines} />}
    </>
  );
}
