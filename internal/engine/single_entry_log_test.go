package engine_test

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
)

// TestOnSingleEntryBatches repeats tests with a log that yields its entries one by one.
func TestOnSingleEntryBatches(t *testing.T) {
	original := newTestLog
	newTestLog = func() runlog.Log { return runlogtest.SingleEntryLog{Log: runlog.NewMemory()} }
	defer func() { newTestLog = original }()
	for _, test := range []func(*testing.T){
		TestMisbehavingToolsEnd,
		TestStopAfterAnswerByAnotherProcess,
		TestDiscardUploadKeepsArtifact,
		TestFailedAnswerKeepsBatchedEvents,
		TestListsAreInOrder,
		TestReplayFromEveryPrefix,
		TestStepIsNotRepeated,
		TestRestartInterruptsNonDurableRuns,
		TestReplayThatDiffersNamesCallAndCause,
		TestStopIsSeenSoon,
		TestTimeLimitPausesWhileAskIsOpen,
		TestAskWithOwnTimeoutExpires,
		TestEventsOfAFlushIntervalAreAppendedTogether,
		TestFinishedRunsAreKeptByCountAndAge,
		TestLimits,
		TestRunIsRecordedFromStartToResult,
		TestStartRefuses,
		TestAnswerRefuses,
		TestFirstAnswerWins,
		TestOtherOwnersSeeNothing,
		TestCancelStopsTheGenerator,
		TestStopOfToolThatIgnoresIt,
		TestHowToolsFail,
		TestIdempotencyKey,
		TestFilesReachGeneratorThroughBlobStore,
		TestSecretsAreNeverInTheLog,
		TestLargeDataGoesToTheBlobStore,
		TestCloseInterruptsNonDurableRuns,
		TestWithdrawnQuestionFailsWithReason,
		TestWithdrawRefuses,
		TestAskTogetherIsMarkedInTheLog,
		TestWorkerOfOlderEpochCannotWrite,
		TestWorkerSupersededDuringBatch,
		TestAnotherProcessMayAnswer,
	} {
		name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
		t.Run(name[strings.LastIndex(name, ".")+1:], test)
	}
}
