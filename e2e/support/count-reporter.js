// A reporter that ends with a count: "journeys: N passed, N failed".
export default class Count {
  passed = 0;
  failed = 0;

  printsToStdio() {
    return false;
  }

  onTestEnd(test, result) {
    if (result.status === "skipped") return;
    result.status === test.expectedStatus ? this.passed++ : this.failed++;
  }

  onExit() {
    console.log(`journeys: ${this.passed} passed, ${this.failed} failed`);
  }
}
